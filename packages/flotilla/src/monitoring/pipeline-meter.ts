/** Metrics of matching, scheduling and execution, under Karmada's names and with its labels and buckets. */
import { counter, Counts, exponentialBuckets, gauge, histogram, Histograms, writeGauge } from "@flotilla/base";
import type { Metric, MetricsText } from "@flotilla/base";
import type { ExecutionMeter, PipelineMeter } from "../propagation/meter.ts";

const STAGE_BUCKETS = exponentialBuckets(0.001, 2, 12);
const SCHEDULER_BUCKETS = exponentialBuckets(0.001, 2, 15);

const MATCHED = histogram(
  "resource_match_policy_duration_seconds",
  "Time to find the policy of a template.",
  STAGE_BUCKETS,
);
const APPLIED = histogram(
  "resource_apply_policy_duration_seconds",
  "Time to apply a policy to a template.",
  STAGE_BUCKETS,
  "result",
);
const ATTEMPTS = counter(
  "policy_apply_attempts_total",
  "Attempts to apply a policy to a template, by result.",
  "result",
);
const PREEMPTIONS = counter("policy_preemption_total", "Preemptions of a template by a policy, by result.", "result");
const SCHEDULE_ATTEMPTS = counter(
  "karmada_scheduler_schedule_attempts_total",
  "Attempts to schedule a binding, by result.",
  "result",
  "schedule_type",
);
const SCHEDULED = histogram(
  "karmada_scheduler_e2e_scheduling_duration_seconds",
  "Time to schedule a binding, including the write of the decision.",
  SCHEDULER_BUCKETS,
  "result",
  "schedule_type",
);
const STEPS = histogram(
  "karmada_scheduler_scheduling_algorithm_duration_seconds",
  "Time of each step of a scheduling decision.",
  SCHEDULER_BUCKETS,
  "schedule_step",
);
const INCOMING = counter(
  "karmada_scheduler_queue_incoming_bindings_total",
  "Bindings added to the scheduling queue, by event.",
  "event",
);
const POINTS = histogram(
  "karmada_scheduler_framework_extension_point_duration_seconds",
  "Time that all plugins of an extension point took for one cluster; measured on one cluster of each decision.",
  exponentialBuckets(0.0001, 2, 12),
  "extension_point",
  "result",
);
const PLUGINS = histogram(
  "karmada_scheduler_plugin_execution_duration_seconds",
  "Time that one plugin took for one cluster; measured on one cluster of each decision.",
  exponentialBuckets(0.00001, 1.5, 20),
  "plugin",
  "extension_point",
  "result",
);
const SYNCED = histogram(
  "work_sync_workload_duration_seconds",
  "Time to sync the objects of a Work to its member.",
  STAGE_BUCKETS,
  "result",
);

const OSCILLATIONS = counter(
  "flotilla_oscillations_total",
  "Objects that the hub stopped writing, because it had changed one of their fields again and again.",
  "member_cluster",
);
const STOPPED = gauge(
  "flotilla_stopped_objects",
  "Objects of the member that the hub does not write, because it had changed one of their fields again and again.",
  "member_cluster",
);

export const executionMetrics: readonly Metric[] = [SYNCED, OSCILLATIONS, STOPPED];
export const pipelineMetrics: readonly Metric[] = [
  ...executionMetrics,
  MATCHED,
  APPLIED,
  ATTEMPTS,
  PREEMPTIONS,
  SCHEDULE_ATTEMPTS,
  SCHEDULED,
  STEPS,
  INCOMING,
  POINTS,
  PLUGINS,
];

/** Karmada's values of the `result` label. */
export const resultOf = (isFine: boolean): string => (isFine ? "success" : "error");

/** A monotonic clock for durations. It is real even where the fleet's clock is simulated. */
export const nowMs = (): number => performance.now();

/** For the stages that write to members; an agent runs no others. */
export function createExecutionMeter(): { meter: ExecutionMeter; write(text: MetricsText): void } {
  const synced = new Histograms(SYNCED);
  const oscillations = new Counts(OSCILLATIONS);
  /** Only members with stopped objects. */
  const stoppedBy = new Map<string, number>();
  return {
    meter: {
      nowMs,
      workSynced: (tookMs, isSynced) => synced.observe([resultOf(isSynced)], tookMs / 1000),
      objectsStopped(cluster, change, isNew) {
        if (isNew) oscillations.add([cluster]);
        const stopped = (stoppedBy.get(cluster) ?? 0) + change;
        if (stopped > 0) stoppedBy.set(cluster, stopped);
        else stoppedBy.delete(cluster);
      },
    },
    write(text) {
      synced.write(text);
      oscillations.write(text);
      writeGauge(
        text,
        STOPPED,
        [...stoppedBy].map(([cluster, stopped]) => [[cluster], stopped] as const),
      );
    },
  };
}

export function createPipelineMeter(): { meter: PipelineMeter; write(text: MetricsText): void } {
  const execution = createExecutionMeter();
  const matched = new Histograms(MATCHED);
  const applied = new Histograms(APPLIED);
  const attempts = new Counts(ATTEMPTS);
  const preemptions = new Counts(PREEMPTIONS);
  const scheduleAttempts = new Counts(SCHEDULE_ATTEMPTS);
  const scheduled = new Histograms(SCHEDULED);
  const steps = new Histograms(STEPS);
  const incoming = new Counts(INCOMING);
  const points = new Histograms(POINTS);
  const plugins = new Histograms(PLUGINS);
  const verdict = (fits: boolean): string => (fits ? "Success" : "Unschedulable");
  return {
    meter: {
      ...execution.meter,
      policyFound: (tookMs) => matched.observe([], tookMs / 1000),
      policyApplied(tookMs, isApplied) {
        applied.observe([resultOf(isApplied)], tookMs / 1000);
        attempts.add([resultOf(isApplied)]);
      },
      policyPreempted: (isDone) => preemptions.add([resultOf(isDone)]),
      bindingsQueued(event, bindings) {
        if (bindings > 0) incoming.add([event], bindings);
      },
      bindingScheduled(type, tookMs, isScheduled) {
        const labels = [isScheduled ? "scheduled" : "error", type];
        scheduled.observe(labels, tookMs / 1000);
        scheduleAttempts.add(labels);
      },
      cycle: {
        nowMs,
        step: (step, tookMs) => steps.observe([step], tookMs / 1000),
        point: (point, tookMs, fits) => points.observe([point, verdict(fits)], tookMs / 1000),
        plugin: (plugin, point, tookMs, fits) => plugins.observe([plugin, point, verdict(fits)], tookMs / 1000),
      },
    },
    write(text) {
      execution.write(text);
      for (const family of [
        matched,
        applied,
        attempts,
        preemptions,
        scheduleAttempts,
        scheduled,
        steps,
        incoming,
        points,
        plugins,
      ])
        family.write(text);
    },
  };
}
