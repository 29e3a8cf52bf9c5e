/**
 * Turns for requests that take long on the event loop: large bodies and long lists. They run in steps (decode, prune,
 * validate, …), one step per turn of the event loop, user by user. Everything else waits for at most one step at a time,
 * and one user's many requests delay another's by one step each.
 *
 * Large bodies are admitted by their bytes before they are decoded: a decoded body takes many times its size. What waits
 * holds its bytes only. No client holds more than half, because a request may wait for a slow webhook.
 *
 * Small requests and operations of controllers never wait here. A small write needs several turns of the event loop, and
 * a delivery several writes, so a step is followed by a time for them that is three times as long, unless there are none.
 */
import { setImmediate } from "node:timers/promises";
import { createSemaphore } from "@flotilla/base";
import { tooManyRequests } from "@flotilla/apimachinery";
import { createFairTurns } from "./fair-turns.ts";
import type { FairTurns } from "./fair-turns.ts";

/** Above this a list is expensive. */
export const LONG_LIST_ENTRIES = 1_000;
/** Waiting bodies are in memory: at most 3 MiB each. */
const MAX_WAITING = 64;
/** Bodies that are decoded at the same time. One of 3 MiB takes some 40 MiB until it is stored. */
const MAX_DECODED_BYTES = 24 * 1024 * 1024;
/** Dry runs of several requests: each has a body of up to 32 MiB and a response of up to 64 MiB. */
const MAX_DRY_RUNS = 4;
const MAX_DRY_RUNS_WAITING = 16;
/** A short body may have as many values as a long one. */
const MIN_WEIGHT_BYTES = 1024 * 1024;
/** Large requests have at least a quarter of the time. */
const SMALL_TIMES = 3;
/** Long enough for small writes; a step that took longer must not delay the next one by as much. */
const MAX_YIELD_MS = 150;

export interface RequestTurns {
  /** In which requests of any size begin, and continue when another server has answered. */
  readonly fair: FairTurns;
  /**
   * Resolves when a request of this client with a body of so many bytes may be decoded. The returned function must be
   * called when it is done. Throws 429 when too many wait.
   */
  begin(client: string, bytes: number, signal: AbortSignal): Promise<() => void>;
  /** The same for a dry run of several requests; a client has one at a time. */
  beginDryRun(client: string, signal: AbortSignal): Promise<() => void>;
  /** Resolves when a list of this client may begin. Throws 429 when too many wait. */
  next(client: string, signal: AbortSignal): Promise<void>;
  /** Resolves when a request of this client that has begun may run its next step. */
  pause(client: string): Promise<void>;
  /** Counts a small request until the returned function is called. */
  countSmall(): () => void;
}

export function createRequestTurns(nowMs: () => number = () => performance.now()): RequestTurns {
  const overflow = (): Error => tooManyRequests("too many large requests at the same time; try again");
  const turn = createSemaphore(1);
  const decoding = createSemaphore(MAX_DECODED_BYTES, {
    perOwner: MAX_DECODED_BYTES / 2,
    maxWaiting: MAX_WAITING,
    overflow,
  });
  const lists = createSemaphore(1, { maxWaiting: MAX_WAITING, overflow });
  const dryRuns = createSemaphore(MAX_DRY_RUNS, { perOwner: 1, maxWaiting: MAX_DRY_RUNS_WAITING, overflow });
  const small = createSmallRequests();
  let lastStepMs = 0;

  /** A request that has begun is neither rejected nor given up: it holds memory until it ends. */
  const pause = async (client: string): Promise<void> => {
    const release = await turn.acquire(1, client);
    // What arrived while the step before it ran comes first.
    await setImmediate();
    await small.done(Math.min(SMALL_TIMES * lastStepMs, MAX_YIELD_MS));
    const startMs = nowMs();
    void setImmediate().then(() => {
      lastStepMs = nowMs() - startMs;
      release();
    });
  };

  return {
    fair: createFairTurns(nowMs),
    async begin(client, bytes, signal) {
      const release = await decoding.acquire(Math.max(bytes, MIN_WEIGHT_BYTES), client, signal);
      await pause(client);
      return release;
    },
    async beginDryRun(client, signal) {
      const release = await dryRuns.acquire(1, client, signal);
      await pause(client);
      return release;
    },
    async next(client, signal) {
      const release = await lists.acquire(1, client, signal);
      await pause(client);
      release();
    },
    pause,
    countSmall: small.begin,
  };
}

interface SmallRequests {
  begin(): () => void;
  /** Resolves when none is being handled, or after this time. */
  done(limitMs: number): Promise<void> | undefined;
}

function createSmallRequests(): SmallRequests {
  let count = 0;
  let onDone: (() => void) | undefined;
  const end = (): void => {
    if (--count === 0) onDone?.();
  };
  return {
    begin() {
      count++;
      return end;
    },
    done(limitMs) {
      if (count === 0 || limitMs < 1) return undefined;
      return new Promise((resolve) => {
        const timer = setTimeout(finish, limitMs);
        function finish(): void {
          clearTimeout(timer);
          onDone = undefined;
          resolve();
        }
        onDone = finish;
      });
    },
  };
}
