/**
 * Measures controllers from outside, under the names by which Karmada measures those that do the same: dispatch makes
 * Works of bindings, membership looks at members, eviction ends what leaves one.
 */
import { counter, Counts, DEFAULT_BUCKETS, exponentialBuckets, histogram, Histograms } from "../base/index.ts";
import type { Metric, MetricsText } from "../base/index.ts";
import type { Controller } from "../runtime/index.ts";
import { nowMs, resultOf } from "./pipeline-meter.ts";

const SYNC_BUCKETS = exponentialBuckets(0.001, 2, 12);

const WORKS = histogram(
  "binding_sync_work_duration_seconds",
  "How long it took to bring the Works of a binding in line with it.",
  SYNC_BUCKETS,
  "result",
);
const STATUS = histogram(
  "cluster_sync_status_duration_seconds",
  "How long it took to look at a member and to write what was found.",
  DEFAULT_BUCKETS,
  "member_cluster",
);
const EVICTION_TIME = histogram(
  "eviction_processing_latency_seconds",
  "How long a look at an eviction took.",
  exponentialBuckets(0.001, 2, 15),
  "name",
);
const EVICTIONS = counter("eviction_processing_total", "Looks at evictions, by how they ended.", "name", "result");

export const controllerMeterMetrics: readonly Metric[] = [WORKS, STATUS, EVICTION_TIME, EVICTIONS];

/** Karmada's names of what evicts, by ours. */
export const EVICTION_NAMES: ReadonlyMap<string, string> = new Map([
  ["eviction", "binding-eviction"],
  ["eviction-cluster-bindings", "cluster-binding-eviction"],
]);

type Observe = (key: { name?: string }, tookMs: number, error: unknown) => void;

export interface ControllerMeter {
  /** The same controller, measured if it is one of those. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types, and each keeps its own.
  around<C extends Controller<any>>(controllers: readonly C[]): C[];
  /** The member is gone. */
  forget(cluster: string): void;
  write(text: MetricsText): void;
}

export function createControllerMeter(): ControllerMeter {
  const works = new Histograms(WORKS);
  const status = new Histograms(STATUS);
  const evictionTime = new Histograms(EVICTION_TIME);
  const evictions = new Counts(EVICTIONS);

  const toWorks: Observe = (_, tookMs, error) => works.observe([resultOf(error === undefined)], tookMs / 1000);
  const observers = new Map<string, Observe>([
    ["dispatch", toWorks],
    ["dispatch-cluster-bindings", toWorks],
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
      for (const family of [works, status, evictionTime, evictions]) family.write(text);
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
