/**
 * Delays a status update until its content has not changed for a moment: the pods of a batch become ready within
 * milliseconds of each other, and a write for each would only be overwritten by the next. If changes continue for
 * longer, the status is written in between.
 *
 * A controller calls it in every reconcile, and requeues after the returned time. An earlier call means that something
 * changed in the meantime, which restarts the delay.
 */
import type { Clock } from "@flotilla/base";

export interface StatusDelay {
  /** Milliseconds to wait before the status of this object may be written; 0 if it is due. */
  waitMs(id: string): number;
  /** The same for a delay that has begun, 0 otherwise; until then the status need not be computed again. */
  leftMs(id: string): number;
  /** The status is up to date; the next difference starts a new delay. */
  settled(id: string): void;
}

/**
 * Users watch a rollout, and some rollouts need the status for their next step: after this many delays it is written in
 * any case.
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
