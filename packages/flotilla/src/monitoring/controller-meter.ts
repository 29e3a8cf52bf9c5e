/**
 * Measures controllers from outside, under the names of Karmada's equivalents: dispatch creates Works from bindings,
 * membership collects member status, eviction removes workloads from a member, autoscalers set replicas.
 */
import { counter, Counts, DEFAULT_BUCKETS, exponentialBuckets, histogram, Histograms } from "@flotilla/base";
import type { Metric, MetricsText } from "@flotilla/base";
import type { Controller } from "@flotilla/controller-runtime";
import { nowMs, resultOf } from "./pipeline-meter.ts";

const SYNC_BUCKETS = exponentialBuckets(0.001, 2, 12);

const WORKS = histogram(
  "binding_sync_work_duration_seconds",
  "Time to sync the Works of a binding.",
  SYNC_BUCKETS,
  "result",
);
const STATUS = histogram(
  "cluster_sync_status_duration_seconds",
  "Time to collect and write the status of a member cluster.",
  DEFAULT_BUCKETS,
  "member_cluster",
);
const EVICTION_TIME = histogram(
  "eviction_processing_latency_seconds",
  "Time to process an eviction.",
  exponentialBuckets(0.001, 2, 15),
  "name",
);
const FEDERATED_HPA = histogram(
  "federatedhpa_process_duration_seconds",
  "Time to evaluate a FederatedHPA, the reads from its members included.",
  exponentialBuckets(0.01, 2, 12),
  "result",
);
const CRON_FEDERATED_HPA = histogram(
  "cronfederatedhpa_process_duration_seconds",
  "Time to process a CronFederatedHPA.",
  exponentialBuckets(0.001, 2, 12),
  "result",
);
const EVICTIONS = counter("eviction_processing_total", "Processed evictions, by result.", "name", "result");

export const controllerMeterMetrics: readonly Metric[] = [
  WORKS,
  STATUS,
  EVICTION_TIME,
  EVICTIONS,
  FEDERATED_HPA,
  CRON_FEDERATED_HPA,
];

/** Karmada's names of the eviction controllers, by Flotilla's names. */
export const EVICTION_NAMES: ReadonlyMap<string, string> = new Map([
  ["eviction", "binding-eviction"],
  ["eviction-cluster-bindings", "cluster-binding-eviction"],
]);

type Observe = (key: { name?: string }, tookMs: number, error: unknown) => void;

export interface ControllerMeter {
  /** Returns the controllers, with the measured ones wrapped. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types, and each keeps its own.
  around<C extends Controller<any>>(controllers: readonly C[]): C[];
  /** Drops the series of a removed member. */
  forget(cluster: string): void;
  write(text: MetricsText): void;
}

export function createControllerMeter(): ControllerMeter {
  const works = new Histograms(WORKS);
  const status = new Histograms(STATUS);
  const evictionTime = new Histograms(EVICTION_TIME);
  const evictions = new Counts(EVICTIONS);
  const federatedHpa = new Histograms(FEDERATED_HPA);
  const cronFederatedHpa = new Histograms(CRON_FEDERATED_HPA);

  const byResult =
    (family: Histograms): Observe =>
    (_, tookMs, error) =>
      family.observe([resultOf(error === undefined)], tookMs / 1000);
  const observers = new Map<string, Observe>([
    ["dispatch", byResult(works)],
    ["dispatch-cluster-bindings", byResult(works)],
    ["federated-hpa", byResult(federatedHpa)],
    ["cron-federated-hpa", byResult(cronFederatedHpa)],
    ["membership", ({ name = "" }, tookMs) => status.observe([name], tookMs / 1000)],
  ]);
  for (const [controller, name] of EVICTION_NAMES) {
    observers.set(controller, (_, tookMs, error) => {
      evictionTime.observe([name], tookMs / 1000);
      evictions.add([name, resultOf(error === undefined)]);
    });
  }

  return {
    around: (controllers) =>
      controllers.map((controller) => {
        const observe = observers.get(controller.name);
        return observe
          ? { ...controller, reconcile: measured((key, context) => controller.reconcile(key, context), observe) }
          : controller;
      }),
    forget: (cluster) => status.forget("member_cluster", cluster),
    write(text) {
      for (const family of [works, status, evictionTime, evictions, federatedHpa, cronFederatedHpa]) family.write(text);
    },
  };
}

function measured(reconcile: Controller["reconcile"], observe: Observe): Controller["reconcile"] {
  return async (key, context) => {
    const startMs = nowMs();
    try {
      const result = await reconcile(key, context);
      observe(key as { name?: string }, nowMs() - startMs, undefined);
      return result;
    } catch (error) {
      if (!context.signal.aborted) observe(key as { name?: string }, nowMs() - startMs, error);
      throw error;
    }
  };
}
