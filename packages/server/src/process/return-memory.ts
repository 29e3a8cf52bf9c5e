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
/**
 * It also shrinks the young generation and V8's limit of the old one, so the next burst takes up to twice the CPU time:
 * it has to return much, and not between two bursts.
 */
const MIN_GROWTH_BYTES = 192 * 1024 * 1024;
const MIN_IDLE_CHECKS = 3;
/** More than a burst of honest writes takes. */
const MIN_RESIDENT_GROWTH_BYTES = 320 * 1024 * 1024;
/** With more in use a collection takes long, and what could be returned is a smaller part. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

/** Whether to collect: `kept` is what there was after the last collection, `idleChecks` how long there is little to do. Pure. */
export function isWorthCollecting({ idleChecks, now, kept }: { idleChecks: number; now: Sizes; kept: Sizes }): boolean {
  const hasGrown =
    now.heapBytes >= kept.heapBytes + MIN_GROWTH_BYTES ||
    now.residentBytes >= kept.residentBytes + MIN_RESIDENT_GROWTH_BYTES;
  return idleChecks >= MIN_IDLE_CHECKS && kept.heapBytes <= MAX_KEPT_BYTES && hasGrown;
}

export function returnMemory(clock: Clock): Timer {
  let collect: (() => void) | undefined;
  let kept = sizes();
  let idleChecks = 0;
  let last = performance.eventLoopUtilization();
  return every(clock, INTERVAL_MS, () => {
    const current = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(current, last);
    last = current;
    idleChecks = utilization < MAX_UTILIZATION ? idleChecks + 1 : 0;
    if (!isWorthCollecting({ idleChecks, now: sizes(), kept })) return;
    collect ??= createCollect();
    collect();
    kept = sizes();
  });
}

interface Sizes {
  heapBytes: number;
  /** Of the process: buffers and what their allocator keeps, too. They are freed with the objects that hold them. */
  residentBytes: number;
}

const sizes = (): Sizes => ({
  heapBytes: v8.getHeapStatistics().total_heap_size,
  residentBytes: process.memoryUsage.rss(),
});

/** Node has the function only with the flag, which V8 also accepts later, for new contexts. */
function createCollect(): () => void {
  v8.setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  v8.setFlagsFromString("--no-expose-gc");
  return gc;
}
