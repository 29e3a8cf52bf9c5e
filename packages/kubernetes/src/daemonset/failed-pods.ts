/**
 * Backoff for failed daemon pods: replaced at once the first time, and then after twice the delay each time. Kept in
 * memory.
 */
import type { Clock } from "@flotilla/base";

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 15 * 60_000;

export interface FailedPods {
  /** Milliseconds until a failed pod may be replaced on the node; a call that returns 0 counts as a replacement. */
  waitMs(set: string, node: string): number;
  forget(set: string): void;
}

export function createFailedPods(clock: Clock): FailedPods {
  const waits = new Map<string, Map<string, { waitMs: number; sinceMs: number }>>();
  return {
    waitMs(set, node) {
      const nowMs = clock.now();
      const nodes = waits.get(set) ?? new Map<string, { waitMs: number; sinceMs: number }>();
      const known = nodes.get(node);
      const leftMs = known ? known.sinceMs + known.waitMs - nowMs : 0;
      if (leftMs > 0) return leftMs;
      const isLongAgo = known !== undefined && nowMs - known.sinceMs > 2 * MAX_WAIT_MS;
      nodes.set(node, {
        waitMs: known && !isLongAgo ? Math.min(2 * known.waitMs, MAX_WAIT_MS) : FIRST_WAIT_MS,
        sinceMs: nowMs,
      });
      waits.set(set, nodes);
      return 0;
    },
    forget: (set) => void waits.delete(set),
  };
}
