/**
 * Simulated durations: the first request for a wait starts it, and later requests return the remaining time. A wait
 * with another reason starts again. Kept in memory only, so a restart delays things a little.
 */
import type { Clock } from "@flotilla/base";

export interface Waits {
  /** Milliseconds left; 0 when the wait is over. */
  leftMs(id: string, reason: string, totalMs: number): number;
  over(id: string): void;
}

export function createWaits(clock: Clock): Waits {
  const waits = new Map<string, { reason: string; since: number }>();
  return {
    leftMs(id, reason, totalMs) {
      let wait = waits.get(id);
      if (wait?.reason !== reason) waits.set(id, (wait = { reason, since: clock.now() }));
      return Math.max(0, wait.since + totalMs - clock.now());
    },
    over: (id) => void waits.delete(id),
  };
}
