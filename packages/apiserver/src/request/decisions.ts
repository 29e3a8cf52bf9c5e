/**
 * The decisions of one request. Code that cannot wait, such as an expression or the rules of a kind, asks
 * synchronously; where the answer has to be awaited, the code is interrupted and runs again when it is there.
 */
import { internalError } from "@flotilla/apimachinery";
import { accessDenied } from "./authorize.ts";
import type { AccessRequest, Authorizer, Decision } from "./authorize.ts";

/** More answers than this are not awaited for one request: an expression could ask for ever. */
const MAX_ANSWERS = 256;

/** Interrupts code that asked for a decision that is not known yet. Only `settle` catches it. */
class DecisionPending extends Error {
  readonly answer: Promise<void>;

  constructor(answer: Promise<void>) {
    super("a decision of another authorizer is awaited");
    this.answer = answer;
  }
}

export class Decisions {
  readonly #authorizer: Pick<Authorizer, "decide">;
  /** Answers that were awaited: the code that runs again must get the same, whether or not the authorizer caches it. */
  #answers: Map<string, Decision> | undefined;

  constructor(authorizer: Pick<Authorizer, "decide">) {
    this.#authorizer = authorizer;
  }

  /** Only inside `settle`. */
  decide(request: AccessRequest): Decision {
    const known = this.#answers?.get(keyOf(request));
    if (known) return known;
    const decision = this.#authorizer.decide(request);
    if (!(decision instanceof Promise)) return decision;
    throw new DecisionPending(
      decision.then((answer) => {
        this.#answers ??= new Map();
        if (this.#answers.size >= MAX_ANSWERS)
          throw internalError(`the request needs more than ${MAX_ANSWERS} decisions of other authorizers`);
        this.#answers.set(keyOf(request), answer);
      }),
    );
  }

  /** Runs code that decides; it must be repeatable up to its questions. Awaits only what others decide. */
  settle<T>(run: () => T | Promise<T>): T | Promise<T> {
    const again = (error: unknown): Promise<T> => {
      if (!(error instanceof DecisionPending)) throw error;
      return error.answer.then(() => this.settle(run));
    };
    try {
      const result = run();
      return result instanceof Promise ? result.catch(again) : result;
    } catch (error) {
      return again(error);
    }
  }
}

const keyOf = ({ user, verb, cluster, resource, path }: AccessRequest): string =>
  JSON.stringify([user, verb, cluster, resource, path]);

/** Throws unless the request is allowed: 403, or 500 when no authorizer allowed it and one of them failed. */
export function confirm(request: AccessRequest, { allowed, reason, error }: Decision): void {
  if (allowed) return;
  if (error !== undefined) throw internalError(error);
  throw accessDenied(request, reason);
}
