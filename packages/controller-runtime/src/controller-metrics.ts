/**
 * Controller metrics for Prometheus: under the names of controller-runtime and of client-go's workqueues, so that
 * existing dashboards and alerts work.
 */
import type { Metric, MetricsText } from "@flotilla/base";
import { QUEUE_BUCKETS, RECONCILE_BUCKETS } from "./controller-runner.ts";
import type { ControllerMetrics } from "./controller-runner.ts";

interface Counted {
  metrics(): ReadonlyMap<string, ControllerMetrics>;
}

const RESULTS: Metric = {
  name: "controller_runtime_reconcile_total",
  type: "counter",
  help: "Total number of reconciliations per controller, by result.",
  labels: ["controller", "result"],
};

/** Metrics with one value per controller. */
const FIGURES: readonly {
  name: string;
  type: "counter" | "gauge";
  help: string;
  label: "controller" | "name";
  value(metrics: ControllerMetrics): number;
}[] = [
  {
    name: "controller_runtime_reconcile_errors_total",
    type: "counter",
    label: "controller",
    help: "Total number of reconciliation errors per controller.",
    value: ({ failures }) => failures,
  },
  {
    name: "controller_runtime_terminal_reconcile_errors_total",
    type: "counter",
    label: "controller",
    help: "Total number of terminal reconciliation errors per controller; these are not retried until something changes.",
    value: ({ terminalFailures }) => terminalFailures,
  },
  {
    name: "controller_runtime_max_concurrent_reconciles",
    type: "gauge",
    label: "controller",
    help: "Maximum number of concurrent reconciles per controller.",
    value: ({ concurrency }) => concurrency,
  },
  {
    name: "controller_runtime_active_workers",
    type: "gauge",
    label: "controller",
    help: "Number of currently running reconciles per controller.",
    value: ({ running }) => running,
  },
  {
    name: "workqueue_depth",
    type: "gauge",
    label: "name",
    help: "Current number of keys that are ready in the workqueue.",
    value: ({ queueLength }) => queueLength,
  },
  {
    name: "workqueue_adds_total",
    type: "counter",
    label: "name",
    help: "Total number of adds to the workqueue.",
    value: ({ adds }) => adds,
  },
  {
    name: "workqueue_retries_total",
    type: "counter",
    label: "name",
    help: "Total number of retries after a failure.",
    value: ({ retries }) => retries,
  },
  {
    name: "workqueue_unfinished_work_seconds",
    type: "gauge",
    label: "name",
    help: "Total time in seconds that the running reconciles have taken so far.",
    value: ({ allRunningMs }) => allRunningMs / 1000,
  },
  {
    name: "workqueue_longest_running_processor_seconds",
    type: "gauge",
    label: "name",
    help: "Time in seconds that the longest running reconcile has taken so far.",
    value: ({ longestRunningMs }) => longestRunningMs / 1000,
  },
  {
    name: "flotilla_workqueue_oldest_seconds",
    type: "gauge",
    label: "name",
    help: "Time in seconds that the oldest ready key has waited.",
    value: ({ oldestQueuedMs }) => oldestQueuedMs / 1000,
  },
  {
    name: "flotilla_workqueue_delayed",
    type: "gauge",
    label: "name",
    help: "Number of keys that wait for their requeue time.",
    value: ({ delayed }) => delayed,
  },
];

/**
 * Metrics with one histogram per controller, which is omitted until it has a value: half of the controllers of a hub have
 * nothing to do, and histograms are most of its page.
 */
const TIMES: readonly {
  name: string;
  help: string;
  label: "controller" | "name";
  buckets: readonly number[];
  value(metrics: ControllerMetrics): ControllerMetrics["queueTime"];
}[] = [
  {
    name: "controller_runtime_reconcile_time_seconds",
    label: "controller",
    buckets: RECONCILE_BUCKETS,
    help: "Length of time per reconciliation.",
    value: ({ reconcileTime }) => reconcileTime,
  },
  {
    name: "workqueue_queue_duration_seconds",
    label: "name",
    buckets: QUEUE_BUCKETS,
    help: "Time in seconds that a key stays in the workqueue before it is reconciled.",
    value: ({ queueTime }) => queueTime,
  },
  {
    name: "workqueue_work_duration_seconds",
    label: "name",
    buckets: QUEUE_BUCKETS,
    help: "Time in seconds that processing a key takes.",
    value: ({ workTime }) => workTime,
  },
];

export const controllerMetrics: readonly Metric[] = [
  RESULTS,
  ...FIGURES.map(({ label, ...metric }) => ({ ...metric, labels: [label] })),
  ...TIMES.map(({ label, ...metric }) => ({ ...metric, type: "histogram" as const, labels: [label] })),
];

/** Writes the metrics of all managers of a process; their controllers have distinct names. */
export function writeControllerMetrics(text: MetricsText, managers: readonly Counted[]): void {
  const all = managers.flatMap((manager) => [...manager.metrics()]);
  text.family(RESULTS);
  for (const [controller, { reconciles, failures, requeues, running }] of all) {
    const results = {
      error: failures,
      requeue: 0,
      requeue_after: requeues,
      success: Math.max(0, reconciles - failures - requeues - running),
    };
    for (const [result, count] of Object.entries(results))
      text.sample(
        RESULTS.name,
        [
          ["controller", controller],
          ["result", result],
        ],
        count,
      );
  }
  for (const { name, type, help, label, value } of FIGURES) {
    text.family({ name, type, help });
    for (const [controller, metrics] of all) text.sample(name, [[label, controller]], value(metrics));
  }
  for (const { name, help, label, value } of TIMES) {
    text.family({ name, type: "histogram", help });
    for (const [controller, metrics] of all) {
      const times = value(metrics);
      if (!times.isEmpty) times.write(text, name, [[label, controller]]);
    }
  }
}
