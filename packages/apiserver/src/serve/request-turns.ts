/**
 * Turns for requests that take long on the event loop: large bodies and long lists. They run in steps (decode, prune,
 * validate, …), one step per turn of the event loop, user by user, so that everything else waits for at most one step,
 * and one user's many requests delay another's by one step each. Other requests never come here.
 */
import { setImmediate } from "node:timers/promises";
import { createSemaphore } from "@flotilla/base";
import { tooManyRequests } from "@flotilla/apimachinery";

/** Above this a request is expensive. */
export const LARGE_BODY_BYTES = 64 * 1024;
export const LONG_LIST_ENTRIES = 1_000;
/** Waiting bodies are in memory: at most 3 MiB each. */
const MAX_WAITING = 64;

export interface RequestTurns {
  /** Resolves when a request of this user may run. Throws 429 when too many wait. */
  next(user: string, signal: AbortSignal): Promise<void>;
  /** Resolves when a request of this user that has begun may run its next step. */
  pause(user: string): Promise<void>;
}

export function createRequestTurns(): RequestTurns {
  const turn = createSemaphore(1);
  const wait = async (user: string, signal?: AbortSignal): Promise<void> => {
    const release = await turn.acquire(1, user, signal);
    // What arrived while the step before it ran comes first.
    await setImmediate();
    void setImmediate().then(release);
  };
  return {
    async next(user, signal) {
      if (turn.waiting >= MAX_WAITING) throw tooManyRequests("too many large requests at the same time; try again");
      return wait(user, signal);
    },
    // A request that has begun is neither rejected nor given up: it holds memory until it ends.
    pause: (user) => wait(user),
  };
}
