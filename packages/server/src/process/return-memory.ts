/**
 * Returns memory that a burst of requests took. V8 collects its old generation when enough was allocated, so a hub that is
 * idle after a burst keeps what the burst left until the next one. Here it is collected when the process has little to do.
 */
import { performance } from "node:perf_hooks";
import v8 from "node:v8";
import { runInNewContext } from "node:vm";
import { every } from "@flotilla/base";
import type { Clock, Timer } from "@flotilla/base";

const INTERVAL_MS = 10_000;
/** A collection takes about a millisecond for each megabyte that is in use: requests must not wait for it. */
const MAX_UTILIZATION = 0.3;
const MIN_GROWTH_BYTES = 64 * 1024 * 1024;
/** With more in use a collection takes long, and what could be returned is a smaller part. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

/** Whether to collect: `keptBytes` is what the heap took after the last collection. Pure. */
export function isWorthCollecting(state: { utilization: number; totalBytes: number; keptBytes: number }): boolean {
  return (
    state.utilization < MAX_UTILIZATION &&
    state.keptBytes <= MAX_KEPT_BYTES &&
    state.totalBytes >= state.keptBytes + MIN_GROWTH_BYTES
  );
}

export function returnMemory(clock: Clock): Timer {
  let collect: (() => void) | undefined;
  let keptBytes = totalBytes();
  let last = performance.eventLoopUtilization();
  return every(clock, INTERVAL_MS, () => {
    const current = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(current, last);
    last = current;
    if (!isWorthCollecting({ utilization, totalBytes: totalBytes(), keptBytes })) return;
    collect ??= createCollect();
    collect();
    keptBytes = totalBytes();
  });
}

const totalBytes = (): number => v8.getHeapStatistics().total_heap_size;

/** Node has the function only with the flag, which V8 also accepts later, for new contexts. */
function createCollect(): () => void {
  v8.setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  v8.setFlagsFromString("--no-expose-gc");
  return gc;
}
