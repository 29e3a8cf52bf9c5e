/**
 * Holds a status back until it has been out of date for a moment: the pods of a batch become ready within milliseconds of
 * each other, and a status write for each would only be overwritten by the next.
 */
import type { Clock } from "../base/index.ts";

export interface StatusDelay {
  /** Milliseconds to wait before the status of this object may be written; 0 when it is time. */
  waitMs(id: string): number;
  /** What is left of a delay that has begun; until then the status need not be worked out again. */
  leftMs(id: string): number;
  /** The status is right; the next difference starts a new delay. */
  settled(id: string): void;
}

export function createStatusDelay(clock: Clock, delayMs: number): StatusDelay {
  const differentSince = new Map<string, number>();
  const leftMs = (id: string): number => Math.max(0, (differentSince.get(id) ?? Number.NEGATIVE_INFINITY) + delayMs - clock.now());
  return {
    waitMs(id) {
      if (!differentSince.has(id)) differentSince.set(id, clock.now());
      return leftMs(id);
    },
    leftMs,
    settled: (id) => void differentSince.delete(id),
  };
}
