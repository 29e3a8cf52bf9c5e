/**
 * The size that an autoscaler wants for its target, with the conditions and events that explain it. Pure, over the
 * history of `scaling-history.ts` and the usage of the pods.
 */
import type { RecordedEvent } from "@flotilla/controller-runtime";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import type { ResourceUsage } from "../workloads/dependencies.ts";
import type { Scale } from "../workloads/scales.ts";
import type { FoundCondition, Status } from "./autoscaler-status.ts";
import { limit, STABILIZATION_MS } from "./scaling-limits.ts";
import type { History, ReadonlyAutoscaler, Sample } from "./scaling-limits.ts";
import { proposeFor } from "./scaling-metrics.ts";
import type { MetricProposal } from "./metric-proposal.ts";
import { milliOf } from "./scaling-usage.ts";
import type { MetricValues } from "./metric-values.ts";

const DEFAULT_TOLERANCE = 0.1;

export interface ScalingInput {
  autoscaler: ReadonlyAutoscaler;
  cluster: string;
  scale: Scale;
  history: History;
  /** Pods of the autoscaler's namespace that match a label selector. */
  podsOf(selector: string): readonly ReadonlyPod[];
  usage: ResourceUsage | undefined;
  /** Custom and external metrics; if unset, the cluster serves none. */
  values?: MetricValues;
  /** Pods per replica of the target, 1 if unset. */
  podsPerReplica?: number;
  nowMs: number;
}

export interface ScalingPlan {
  /** Unset if no metric is available. */
  desired?: number;
  /** Why the target is scaled. */
  reason: string;
  metrics?: Status["currentMetrics"];
  conditions: readonly FoundCondition[];
  events: readonly RecordedEvent[];
  /** New samples of the history. */
  recommendations: readonly Sample[];
}

const NO_FINDINGS = { conditions: [], events: [], recommendations: [] };

export function planScaling(input: ScalingInput): ScalingPlan {
  const { autoscaler, scale, nowMs } = input;
  const { minReplicas = 1, maxReplicas } = autoscaler.spec;
  const current = scale.replicas;
  if (current === 0 && minReplicas !== 0)
    return {
      ...NO_FINDINGS,
      desired: 0,
      reason: "",
      conditions: [inactive("ScalingDisabled", "scaling is disabled since the replica count of the target is zero")],
    };
  if (current > maxReplicas)
    return { ...NO_FINDINGS, desired: maxReplicas, reason: "Current number of replicas above Spec.MaxReplicas" };
  if (current < minReplicas)
    return { ...NO_FINDINGS, desired: minReplicas, reason: "Current number of replicas below Spec.MinReplicas" };
  const { replicas, name, ...found } = propose(input);
  if (replicas === undefined) return { ...NO_FINDINGS, ...found, reason: "" };

  // The observed size counts as the first recommendation.
  const first = input.history.recommendations.length === 0 ? [{ atMs: nowMs - 1, replicas: current }] : [];
  const history = { ...input.history, recommendations: [...input.history.recommendations, ...first] };
  const { able, limited, stabilized, replicas: desired } = limit(autoscaler, current, replicas, history, nowMs);
  return {
    ...found,
    desired,
    reason: reasonFor({ current, proposed: replicas, stabilized }, name),
    conditions: [
      ...found.conditions,
      { type: "AbleToScale", isTrue: true, reason: able.reason, message: able.message },
      { type: "ScalingLimited", isTrue: limited.isLimited, reason: limited.reason, message: limited.message },
    ],
    recommendations: [...first, { atMs: nowMs, replicas }],
  };
}

/** Upstream says "All metrics below target" also where a recent recommendation makes the target larger. */
function reasonFor(
  { current, proposed, stabilized }: Record<"current" | "proposed" | "stabilized", number>,
  metric: string,
): string {
  if (proposed > current) return `${metric} above target`;
  return stabilized > current
    ? `the highest recommendation of the last ${STABILIZATION_MS / 60_000} minutes is ${stabilized} replicas`
    : "All metrics below target";
}

interface Proposal {
  /** Unset if no metric is available. */
  replicas?: number;
  /** Of the metric. */
  name: string;
  metrics: NonNullable<Status["currentMetrics"]>;
  conditions: readonly FoundCondition[];
  events: readonly RecordedEvent[];
}

/** The largest proposal of the metrics. If some are unavailable, only scaling up is allowed. */
function propose(input: ScalingInput): Proposal {
  const { replicas: currentReplicas, selector } = input.scale;
  if (selector === "")
    return {
      name: "",
      metrics: [],
      conditions: [inactive("InvalidSelector", "the HPA target's scale is missing a selector")],
      events: [warning("SelectorRequired", "selector is required")],
    };
  const proposals = proposalsOf(input, selector);
  const bad = proposals.filter((proposal) => "problem" in proposal);
  // An empty entry represents an unknown metric, as upstream does.
  const metrics = proposals.map((proposal) => ("replicas" in proposal ? proposal.status : { type: "" }));
  const failures = bad.map(({ reason, why }) => warning(reason, why));
  const best = largest(proposals);
  const [first] = bad;
  if (!best || (first && best.replicas < currentReplicas)) {
    const problem = `invalid metrics (${bad.length} invalid out of ${proposals.length}), first error is: ${first?.problem ?? ""}`;
    return {
      name: "",
      metrics,
      conditions: first
        ? [inactive(first.reason, `the HPA was unable to compute the replica count: ${first.why}`)]
        : [],
      events: [...failures, warning("FailedComputeMetricsReplicas", problem)],
    };
  }
  const message = `the HPA was able to successfully calculate a replica count from ${best.name}`;
  return {
    replicas: best.replicas,
    name: best.name,
    metrics,
    conditions: [{ type: "ScalingActive", isTrue: true, reason: "ValidMetricFound", message }],
    events: failures,
  };
}

function proposalsOf({ autoscaler, cluster, scale, ...input }: ScalingInput, selector: string): MetricProposal[] {
  const { behavior, metrics = [] } = autoscaler.spec;
  const view = {
    cluster,
    namespace: autoscaler.metadata.namespace ?? "",
    pods: input.podsOf(selector),
    currentReplicas: scale.replicas,
    reportedReplicas: scale.currentReplicas,
    podsPerReplica: input.podsPerReplica ?? 1,
    tolerances: { up: toleranceOf(behavior?.scaleUp?.tolerance), down: toleranceOf(behavior?.scaleDown?.tolerance) },
    usage: input.usage,
    values: input.values,
    nowMs: input.nowMs,
  };
  return metrics.map((metric) => proposeFor(metric, view));
}

const largest = (proposals: readonly MetricProposal[]): Extract<MetricProposal, { replicas: number }> | undefined =>
  proposals
    .filter((proposal) => "replicas" in proposal)
    .reduce<Extract<MetricProposal, { replicas: number }> | undefined>(
      (most, each) => (most && most.replicas >= each.replicas ? most : each),
      undefined,
    );

const toleranceOf = (text: string | number | undefined): number =>
  text === undefined ? DEFAULT_TOLERANCE : milliOf(text) / 1000;

const inactive = (reason: string, message: string): FoundCondition => ({
  type: "ScalingActive",
  isTrue: false,
  reason,
  message,
});
const warning = (reason: string, message: string): RecordedEvent => ({ type: "Warning", reason, message });
