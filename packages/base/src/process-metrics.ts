/**
 * Metrics of the process itself, under the names that Prometheus' client libraries use for any process and for Node.
 */
import { readFileSync, readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { IntervalHistogram } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { MetricsText } from "./metrics-text.ts";
import { counter, gauge, writeGauge } from "./metrics.ts";
import type { Metric } from "./metric.ts";

const CPU = counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.");
const RESIDENT = gauge("process_resident_memory_bytes", "Resident memory size in bytes.");
const START = gauge("process_start_time_seconds", "Start time of the process since the Unix epoch in seconds.");
const OPEN_FILES = gauge("process_open_fds", "Number of open file descriptors; only on Linux.");
const MAX_FILES = gauge("process_max_fds", "Maximum number of open file descriptors; only on Linux.");
const HEAP_USED = gauge("nodejs_heap_size_used_bytes", "Used size of the JavaScript heap in bytes.");
const HEAP_TOTAL = gauge("nodejs_heap_size_total_bytes", "Memory that the JavaScript heap has taken in bytes.");
const EXTERNAL = gauge("nodejs_external_memory_bytes", "Memory of buffers outside of the JavaScript heap in bytes.");
const HEAP_LIMIT = gauge("nodejs_heap_size_limit_bytes", "Size limit of the JavaScript heap in bytes.");
const LAGS = [50, 90, 99].map((percent) => ({
  percent,
  metric: gauge(
    `nodejs_eventloop_lag_p${percent}_seconds`,
    `Event loop lag since the last scrape, ${percent}th percentile, in seconds.`,
  ),
}));
const BUSY = gauge(
  "nodejs_eventloop_utilization",
  "Share of time since the process started in which the event loop was busy.",
);

export const processMetrics: readonly Metric[] = [
  CPU,
  RESIDENT,
  START,
  OPEN_FILES,
  MAX_FILES,
  HEAP_USED,
  HEAP_TOTAL,
  EXTERNAL,
  HEAP_LIMIT,
  ...LAGS.map(({ metric }) => metric),
  BUSY,
];

/** Fine enough to see delays that users notice; a timer fifty times a second costs nothing. */
const LAG_RESOLUTION_MS = 20;
let lag: IntervalHistogram | undefined;

/** Event loop lag is reported from the second scrape on; measuring starts with the first. */
export function writeProcessMetrics(text: MetricsText): void {
  const { user, system } = process.cpuUsage();
  const heap = getHeapStatistics();
  writeGauge(text, CPU, [[[], (user + system) / 1e6]]);
  writeGauge(text, RESIDENT, [[[], process.memoryUsage.rss()]]);
  writeGauge(text, START, [[[], Math.round(performance.timeOrigin / 1000)]]);
  writeGauge(text, OPEN_FILES, openFiles());
  writeGauge(text, MAX_FILES, maxFiles());
  writeGauge(text, HEAP_USED, [[[], heap.used_heap_size]]);
  writeGauge(text, HEAP_TOTAL, [[[], heap.total_heap_size]]);
  writeGauge(text, EXTERNAL, [[[], heap.external_memory]]);
  writeGauge(text, HEAP_LIMIT, [[[], heap.heap_size_limit]]);
  writeLag(text);
  writeGauge(text, BUSY, [[[], performance.eventLoopUtilization().utilization]]);
}

function writeLag(text: MetricsText): void {
  const measured = lag;
  lag ??= monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  if (!measured) lag.enable();
  for (const { percent, metric } of LAGS) {
    // The histogram measures the time between two timer calls, which includes the interval itself; the interval is not
    // lag.
    const seconds =
      measured && measured.count > 0 ? Math.max(0, measured.percentile(percent) / 1e9 - LAG_RESOLUTION_MS / 1000) : 0;
    writeGauge(text, metric, measured ? [[[], seconds]] : []);
  }
  measured?.reset();
}

/** Undefined where the system has no /proc, which is everywhere but Linux. */
function fromProc<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== undefined) return undefined;
    throw error;
  }
}

function openFiles(): [string[], number][] {
  const count = fromProc(() => readdirSync("/proc/self/fd").length);
  return count === undefined ? [] : [[[], count]];
}

function maxFiles(): [string[], number][] {
  const limit = fromProc(() => /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]);
  return limit === undefined ? [] : [[[], Number(limit)]];
}
