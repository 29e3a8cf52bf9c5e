/**
 * How often a workload is looked at. A look costs as much as the workload has pods, and every one of them changes
 * several times while it starts: a look for each change would cost the square of their number. So large workloads are
 * looked at less often, and small ones at once.
 */
import type { Clock } from "../base/index.ts";

export interface Pace {
  /** Milliseconds until the next look; 0 when it is time. */
  leftMs(id: string): number;
  /** The workload was looked at, and has this many pods. */
  looked(id: string, pods: number): void;
  forget(id: string): void;
}

/**
 * A look at a pod takes about a microsecond, so looks take a tenth of the time at most. A hundred pods wait for
 * nothing.
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
