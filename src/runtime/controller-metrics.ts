/**
 * What controllers count, as Prometheus reads it: under the names of controller-runtime and of client-go's queues, so
 * that the dashboards and alerts that people have for other controllers work.
 */
import type { Metric, MetricsText } from "../base/index.ts";
import { QUEUE_BUCKETS, RECONCILE_BUCKETS } from "./controller-runner.ts";
import type { ControllerMetrics } from "./controller-runner.ts";

interface Counted {
  metrics(): ReadonlyMap<string, ControllerMetrics>;
}

const RESULTS: Metric = {
  name: "controller_runtime_reconcile_total",
  type: "counter",
  help: "Reconciles by how they ended.",
  labels: ["controller", "result"],
};

/** Families in which a controller has one figure. */
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
    help: "Reconciles that failed.",
    value: ({ failures }) => failures,
  },
  {
    name: "controller_runtime_terminal_reconcile_errors_total",
    type: "counter",
    label: "controller",
    help: "Reconciles that failed until something changes.",
    value: ({ terminalFailures }) => terminalFailures,
  },
  {
    name: "controller_runtime_max_concurrent_reconciles",
    type: "gauge",
    label: "controller",
    help: "How many keys are reconciled at the same time at most.",
    value: ({ concurrency }) => concurrency,
  },
  {
    name: "controller_runtime_active_workers",
    type: "gauge",
    label: "controller",
    help: "How many keys are being reconciled.",
    value: ({ running }) => running,
  },
  {
    name: "workqueue_depth",
    type: "gauge",
    label: "name",
    help: "Keys that are ready.",
    value: ({ queueLength }) => queueLength,
  },
  {
    name: "workqueue_adds_total",
    type: "counter",
    label: "name",
    help: "How often a key became ready.",
    value: ({ adds }) => adds,
  },
  {
    name: "workqueue_retries_total",
    type: "counter",
    label: "name",
    help: "How often a key came back because it had failed.",
    value: ({ retries }) => retries,
  },
  {
    name: "workqueue_unfinished_work_seconds",
    type: "gauge",
    label: "name",
    help: "How long the keys that are being reconciled have been, all together.",
    value: ({ allRunningMs }) => allRunningMs / 1000,
  },
  {
    name: "workqueue_longest_running_processor_seconds",
    type: "gauge",
    label: "name",
    help: "How long the longest of them has been.",
    value: ({ longestRunningMs }) => longestRunningMs / 1000,
  },
  {
    name: "flotilla_workqueue_oldest_seconds",
    type: "gauge",
    label: "name",
    help: "How long the key waits that is ready for longest.",
    value: ({ oldestQueuedMs }) => oldestQueuedMs / 1000,
  },
  {
    name: "flotilla_workqueue_delayed",
    type: "gauge",
    label: "name",
    help: "Keys that wait for their time.",
    value: ({ delayed }) => delayed,
  },
];

/**
 * Families in which a controller has a distribution. A key is worked on exactly while it is reconciled, so two of them
 * are the same.
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
    help: "How long reconciles took.",
    value: ({ reconcileTime }) => reconcileTime,
  },
  {
    name: "workqueue_queue_duration_seconds",
    label: "name",
    buckets: QUEUE_BUCKETS,
    help: "How long keys waited from being ready to being taken.",
    value: ({ queueTime }) => queueTime,
  },
  {
    name: "workqueue_work_duration_seconds",
    label: "name",
    buckets: RECONCILE_BUCKETS,
    help: "How long keys were worked on.",
    value: ({ reconcileTime }) => reconcileTime,
  },
];

export const controllerMetrics: readonly Metric[] = [
  RESULTS,
  ...FIGURES.map(({ label, ...metric }) => ({ ...metric, labels: [label] })),
  ...TIMES.map(({ label, ...metric }) => ({ ...metric, type: "histogram" as const, labels: [label] })),
];

/** Controllers of all the managers of a process, which have different names. */
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
    for (const [controller, metrics] of all) value(metrics).write(text, name, [[label, controller]]);
  }
}
