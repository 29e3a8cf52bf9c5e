/**
 * Holds a status back until what it tells has stopped changing for a moment: the pods of a batch become ready within
 * milliseconds of each other, and a status write for each would only be overwritten by the next. What goes on for
 * longer is told in between.
 *
 * A controller asks in every reconcile, and comes back after the time that it is told. Coming back earlier means that
 * something happened meanwhile, which starts the moment anew.
 */
import type { Clock } from "../base/index.ts";

export interface StatusDelay {
  /** Milliseconds to wait before the status of this object may be written; 0 when it is time. */
  waitMs(id: string): number;
  /** The same for a delay that has begun, 0 otherwise; until then the status need not be worked out again. */
  leftMs(id: string): number;
  /** The status is right; the next difference starts a new delay. */
  settled(id: string): void;
}

/**
 * People watch a rollout, and the next step of some waits for the status: after this many delays it is told in any
 * case.
 */
const MAX_DELAYS = 5;

export function createStatusDelay(clock: Clock, delayMs: number): StatusDelay {
  const delays = new Map<string, { dueMs: number; readonly latestMs: number }>();
  const leftMs = (id: string): number => {
    const delay = delays.get(id);
    const nowMs = clock.now();
    if (!delay || nowMs >= delay.dueMs) return 0;
    delay.dueMs = Math.min(nowMs + delayMs, delay.latestMs);
    return delay.dueMs - nowMs;
  };
  return {
    waitMs(id) {
      if (!delays.has(id))
        delays.set(id, { dueMs: clock.now() + delayMs, latestMs: clock.now() + delayMs * MAX_DELAYS });
      return leftMs(id);
    },
    leftMs,
    settled: (id) => void delays.delete(id),
  };
}
