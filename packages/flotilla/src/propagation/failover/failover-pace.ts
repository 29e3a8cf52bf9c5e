/**
 * Rate-limits evictions by taints: an unreachable member with a thousand workloads must not make the others start a
 * thousand at once. Each binding gets a turn, and keeps it while it waits.
 */
export interface Pace {
  /** Time until this binding's turn; 0 when it has come. */
  waitMs(id: string, nowMs: number): number;
  /** The binding took its turn, or no longer needs it. */
  release(id: string): void;
}

/** The interval for a rate of zero, as in Karmada. */
const SLOWEST_MS = 1_800_000;

export function createPace(perSecond: number): Pace {
  const intervalMs = perSecond > 0 ? 1000 / perSecond : SLOWEST_MS;
  const turns = new Map<string, number>();
  let nextMs = -Infinity;
  return {
    waitMs(id, nowMs) {
      let turnMs = turns.get(id);
      if (turnMs === undefined) {
        turnMs = Math.max(nowMs, nextMs);
        nextMs = turnMs + intervalMs;
        turns.set(id, turnMs);
      }
      return Math.max(0, turnMs - nowMs);
    },
    release: (id) => void turns.delete(id),
  };
}
