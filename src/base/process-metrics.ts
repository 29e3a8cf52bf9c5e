/** Figures of the process itself, under the names of Prometheus' client libraries for any process and for Node. */
import { readFileSync, readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { IntervalHistogram } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { MetricsText } from "./metrics-text.ts";
import { counter, gauge, writeGauge } from "./metrics.ts";
import type { Metric } from "./metrics.ts";

const CPU = counter("process_cpu_seconds_total", "CPU time of the process.");
const RESIDENT = gauge("process_resident_memory_bytes", "Memory that the process holds.");
const START = gauge("process_start_time_seconds", "When the process started, in seconds since 1970.");
const OPEN_FILES = gauge("process_open_fds", "Files and connections that are open; only on Linux.");
const MAX_FILES = gauge("process_max_fds", "How many may be; only on Linux.");
const HEAP_USED = gauge("nodejs_heap_size_used_bytes", "What is in use of the JavaScript heap.");
const HEAP_LIMIT = gauge(
  "nodejs_heap_size_limit_bytes",
  "How large the JavaScript heap may become before the process ends.",
);
const LAGS = [50, 90, 99].map((percent) => ({
  percent,
  metric: gauge(
    `nodejs_eventloop_lag_p${percent}_seconds`,
    `How late the event loop was since the page was last read; ${percent} % of the time no later than this.`,
  ),
}));
const BUSY = gauge(
  "nodejs_eventloop_utilization",
  "The share of time in which the event loop was busy since the process started.",
);

export const processMetrics: readonly Metric[] = [
  CPU,
  RESIDENT,
  START,
  OPEN_FILES,
  MAX_FILES,
  HEAP_USED,
  HEAP_LIMIT,
  ...LAGS.map(({ metric }) => metric),
  BUSY,
];

/** Fine enough to see what users notice; a timer fifty times a second costs nothing. */
const LAG_RESOLUTION_MS = 20;
let lag: IntervalHistogram | undefined;

/** From the second page on it tells how late the event loop was; before that nobody asked. */
export function writeProcessMetrics(text: MetricsText): void {
  const { user, system } = process.cpuUsage();
  const heap = getHeapStatistics();
  writeGauge(text, CPU, [[[], (user + system) / 1e6]]);
  writeGauge(text, RESIDENT, [[[], process.memoryUsage.rss()]]);
  writeGauge(text, START, [[[], Math.round(performance.timeOrigin / 1000)]]);
  writeGauge(text, OPEN_FILES, openFiles());
  writeGauge(text, MAX_FILES, maxFiles());
  writeGauge(text, HEAP_USED, [[[], heap.used_heap_size]]);
  writeGauge(text, HEAP_LIMIT, [[[], heap.heap_size_limit]]);
  writeLag(text);
  writeGauge(text, BUSY, [[[], performance.eventLoopUtilization().utilization]]);
}

function writeLag(text: MetricsText): void {
  const measured = lag;
  lag ??= monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  if (!measured) lag.enable();
  for (const { percent, metric } of LAGS) {
    // It measures the time between two calls of its timer, of which the interval itself is no lag.
    const seconds =
      measured && measured.count > 0 ? Math.max(0, measured.percentile(percent) / 1e9 - LAG_RESOLUTION_MS / 1000) : 0;
    writeGauge(text, metric, measured ? [[[], seconds]] : []);
  }
  measured?.reset();
}

/** Undefined where the system has no such files, which is everywhere but on Linux. */
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
