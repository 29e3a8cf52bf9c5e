/**
 * How long things take in the simulation: the first time a wait is asked for starts it, and asking again says how much
 * is left. A wait for another reason starts anew. Kept in memory only, so a restart makes things take a moment longer.
 */
import type { Clock } from "../base/index.ts";

export interface Waits {
  /** Milliseconds left; 0 when it is over. */
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
