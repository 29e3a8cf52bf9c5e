/**
 * Works of which a request may have been carried out without an answer. That holds until the member answers, whatever
 * later requests meet. The Work's condition says so, but only once it is written, and another look may come before
 * that: so it is remembered here as well.
 */
import type { ObjectKey } from "../../client/index.ts";
import { idOfKey } from "../../runtime/index.ts";
import { MEMBER_UNREACHABLE, NO_ANSWER } from "../well-known.ts";
import type { Failure } from "./plan-applied.ts";

export interface LostAnswers {
  /** What is to be told of a Work after a look that failed so; undefined stands for one that did not fail. */
  after(key: ObjectKey, failure: Failure | undefined): Failure | undefined;
  forget(key: ObjectKey): void;
}

export function createLostAnswers(): LostAnswers {
  const unanswered = new Set<string>();
  return {
    after(key, failure) {
      if (failure?.reason === NO_ANSWER) unanswered.add(idOfKey(key));
      else if (failure?.reason !== MEMBER_UNREACHABLE) unanswered.delete(idOfKey(key));
      else if (unanswered.has(idOfKey(key))) return { ...failure, reason: NO_ANSWER };
      return failure;
    },
    forget: (key) => void unanswered.delete(idOfKey(key)),
  };
}
