/**
 * Works with a request that may have been carried out without an answer. This holds until the member answers,
 * regardless of later errors. The Work's condition records it, but the next reconcile may come before that write, so it
 * is also kept in memory.
 */
import type { ObjectKey } from "@flotilla/client";
import { idOfKey } from "@flotilla/controller-runtime";
import type { Failure } from "./plan-applied.ts";
import { MEMBER_UNREACHABLE, NO_ANSWER } from "../../flotilla-names.ts";

export interface LostAnswers {
  /** The failure to report for a Work after a reconcile; undefined means that it succeeded. */
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
