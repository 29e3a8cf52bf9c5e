/**
 * Limits how often a workload is reconciled. The cost of a reconcile is proportional to the number of pods, and each
 * pod changes several times while it starts: a reconcile per change would have quadratic cost. So large workloads are
 * reconciled less often, and small ones at once.
 */
import type { Clock } from "@flotilla/base";

export interface Pace {
  /** Milliseconds until the next reconcile; 0 if it is due. */
  leftMs(id: string): number;
  /** The workload was reconciled, and has this many pods. */
  looked(id: string, pods: number): void;
  forget(id: string): void;
}

/**
 * Evaluating a pod takes about a microsecond, so reconciles take at most a tenth of the time. A hundred pods do not
 * wait.
 */
const MS_PER_POD = 0.01;

export function createPace(clock: Clock): Pace {
  const nextMs = new Map<string, number>();
  return {
    leftMs: (id) => Math.max(0, (nextMs.get(id) ?? 0) - clock.now()),
    looked(id, pods) {
      const waitMs = Math.floor(pods * MS_PER_POD);
      if (waitMs > 0) nextMs.set(id, clock.now() + waitMs);
      else nextMs.delete(id);
    },
    forget: (id) => void nextMs.delete(id),
  };
}
