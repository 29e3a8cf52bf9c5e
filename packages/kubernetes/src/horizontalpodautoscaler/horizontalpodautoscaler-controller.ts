/**
 * HorizontalPodAutoscaler: scales a workload so that the usage of its pods stays near a target.
 *
 * Reads: HorizontalPodAutoscaler, Pod, the scale of the target, pod usage.
 * Writes: the scale of the target, HorizontalPodAutoscaler status. Runs every fifteen seconds; a correct status is not
 * written.
 */
import { HorizontalPodAutoscaler } from "./horizontalpodautoscaler-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { ApiError, matchesLabels, parseApiVersion, parseLabelSelector } from "@flotilla/apimachinery";
import { FlotillaError, equalJson, formatTime, messageOf } from "@flotilla/base";
import { UnknownKindError } from "@flotilla/client";
import type { ObjectKey } from "@flotilla/client";
import { defineController, idOfKey, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { createScales } from "../workloads/scales.ts";
import type { Scale, ScaleTarget } from "../workloads/scales.ts";
import { createHistories } from "./scaling-history.ts";
import { limit } from "./scaling-limits.ts";
import type { ReadonlyAutoscaler } from "./scaling-limits.ts";
import { proposeFor } from "./scaling-metrics.ts";
import type { MetricProposal } from "./scaling-metrics.ts";
import { milliOf } from "./scaling-usage.ts";

const SYNC_MS = 15_000;
const DEFAULT_TOLERANCE = 0.1;

type Status = NonNullable<ReadonlyAutoscaler["status"]>;
type Condition = NonNullable<Status["conditions"]>[number];

/** One evaluation of an autoscaler: its new status and its events. */
interface Evaluation {
  autoscaler: ReadonlyAutoscaler;
  key: ObjectKey;
  conditions: readonly Condition[];
  nowMs: number;
}

export function createAutoscalerController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { client, informers, clock, usage } = deps;
  const pods = informers.of(Pod);
  const scales = createScales(client);
  const histories = createHistories();
  const events = deps.events?.("horizontal-pod-autoscaler");
  /** Every status change triggers an event; the next evaluation is still due fifteen seconds after the last one. */
  const evaluatedMs = new Map<string, { atMs: number; generation: number | undefined }>();

  return defineController({
    name: "autoscaler",
    for: HorizontalPodAutoscaler,
    writes: [HorizontalPodAutoscaler],

    async reconcile(autoscaler, { key, signal }) {
      const id = idOfKey(key);
      const last = evaluatedMs.get(id);
      const { generation } = autoscaler.metadata;
      const leftMs = last && last.generation === generation ? last.atMs + SYNC_MS - clock.now() : 0;
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      evaluatedMs.set(id, { atMs: clock.now(), generation });
      const status = await evaluate(
        { autoscaler, key, conditions: autoscaler.status?.conditions ?? [], nowMs: clock.now() },
        signal,
      );
      if (!equalJson(status, autoscaler.status))
        await unlessChanged(
          client.updateStatus(HorizontalPodAutoscaler, key.cluster, { ...autoscaler, status }, { signal }),
        );
      return { requeueAfterMs: SYNC_MS };
    },
    forget(key) {
      histories.forget(idOfKey(key));
      evaluatedMs.delete(idOfKey(key));
    },
  });

  function set(one: Evaluation, type: string, isTrue: boolean, reason: string, message: string): void {
    one.conditions = withCondition(
      one.conditions,
      { type, status: isTrue ? "True" : "False", reason, message },
      one.nowMs,
    );
  }

  function recordEvent(
    { autoscaler, key }: Evaluation,
    type: "Normal" | "Warning",
    reason: string,
    message: string,
  ): void {
    events?.record(key.cluster, autoscaler, { type, reason, message });
  }

  async function evaluate(one: Evaluation, signal: AbortSignal): Promise<Status> {
    const { autoscaler, key } = one;
    const { apiVersion = "", kind, name } = autoscaler.spec.scaleTargetRef;
    const target: ScaleTarget = { cluster: key.cluster, namespace: key.namespace ?? "", apiVersion, kind, name };
    const scale = await readScale(target, signal);
    if (typeof scale === "string") {
      recordEvent(one, "Warning", "FailedGetScale", scale);
      set(
        one,
        "AbleToScale",
        false,
        "FailedGetScale",
        `the HPA controller was unable to get the target's current scale: ${scale}`,
      );
      return statusOf(
        one,
        autoscaler.status?.currentReplicas ?? 0,
        autoscaler.status?.desiredReplicas ?? 0,
        autoscaler.status?.currentMetrics,
      );
    }
    set(one, "AbleToScale", true, "SucceededGetScale", "the HPA controller was able to get the target's current scale");
    const { desired, reason, metrics } = decide(one, scale);
    if (desired === undefined) return statusOf(one, scale.replicas, autoscaler.status?.desiredReplicas ?? 0, metrics);
    if (desired === scale.replicas) return statusOf(one, scale.replicas, desired, metrics);
    try {
      await scales.write(target, scale, desired, signal);
    } catch (error) {
      recordEvent(
        one,
        "Warning",
        "FailedRescale",
        `New size: ${desired}; reason: ${reason}; error: ${messageOf(error)}`,
      );
      set(
        one,
        "AbleToScale",
        false,
        "FailedUpdateScale",
        `the HPA controller was unable to update the target scale: ${messageOf(error)}`,
      );
      return statusOf(one, scale.replicas, autoscaler.status?.desiredReplicas ?? 0, metrics);
    }
    set(
      one,
      "AbleToScale",
      true,
      "SucceededRescale",
      `the HPA controller was able to update the target scale to ${desired}`,
    );
    recordEvent(one, "Normal", "SuccessfulRescale", `New size: ${desired}; reason: ${reason}`);
    histories.scaled(idOfKey(key), autoscaler, scale.replicas, desired, one.nowMs);
    return { ...statusOf(one, scale.replicas, desired, metrics), lastScaleTime: formatTime(one.nowMs) };
  }

  /** The scale, or the error. */
  async function readScale(target: ScaleTarget, signal: AbortSignal): Promise<Scale | string> {
    try {
      return await scales.read(target, signal);
    } catch (error) {
      if (error instanceof UnknownKindError)
        return `no matches for kind "${target.kind}" in group "${parseApiVersion(target.apiVersion).group}"`;
      if (error instanceof ApiError || error instanceof FlotillaError) return messageOf(error);
      throw error;
    }
  }

  /** `desired` is unset if no metric is available. */
  function decide(
    one: Evaluation,
    scale: Scale,
  ): { desired?: number; reason: string; metrics?: Status["currentMetrics"] } {
    const { autoscaler, key, nowMs } = one;
    const { minReplicas = 1, maxReplicas } = autoscaler.spec;
    const current = scale.replicas;
    if (current === 0 && minReplicas !== 0) {
      set(
        one,
        "ScalingActive",
        false,
        "ScalingDisabled",
        "scaling is disabled since the replica count of the target is zero",
      );
      return { desired: 0, reason: "" };
    }
    if (current > maxReplicas)
      return { desired: maxReplicas, reason: "Current number of replicas above Spec.MaxReplicas" };
    if (current < minReplicas)
      return { desired: minReplicas, reason: "Current number of replicas below Spec.MinReplicas" };
    const proposed = propose(one, scale);
    if (proposed.replicas === undefined) return { reason: "", metrics: proposed.metrics };
    const id = idOfKey(key);
    const before = histories.of(id);
    // The observed size counts as the first recommendation.
    if (before.recommendations.length === 0) histories.recommended(id, autoscaler, current, nowMs - 1);
    const verdict = limit(autoscaler, current, proposed.replicas, histories.of(id), nowMs);
    histories.recommended(id, autoscaler, proposed.replicas, nowMs);
    set(one, "AbleToScale", true, verdict.able.reason, verdict.able.message);
    set(one, "ScalingLimited", verdict.limited.isLimited, verdict.limited.reason, verdict.limited.message);
    return {
      desired: verdict.replicas,
      reason: proposed.replicas > current ? `${proposed.name} above target` : "All metrics below target",
      metrics: proposed.metrics,
    };
  }

  /** The largest proposal of the metrics. If some are unavailable, only scaling up is allowed. */
  function propose(
    one: Evaluation,
    scale: Scale,
  ): { replicas?: number; name: string; metrics: NonNullable<Status["currentMetrics"]> } {
    const { autoscaler, key, nowMs } = one;
    const selected = podsOf(one, scale);
    if (!selected) return { name: "", metrics: [] };
    const { behavior, metrics = [] } = autoscaler.spec;
    const tolerances = {
      up: toleranceOf(behavior?.scaleUp?.tolerance),
      down: toleranceOf(behavior?.scaleDown?.tolerance),
    };
    const proposals = metrics.map((metric) =>
      proposeFor(metric, {
        cluster: key.cluster,
        namespace: key.namespace ?? "",
        pods: selected,
        currentReplicas: scale.replicas,
        tolerances,
        usage,
        nowMs,
      }),
    );
    const good = proposals.filter((proposal) => "replicas" in proposal);
    const bad = proposals.filter((proposal) => "problem" in proposal);
    // An empty entry represents an unknown metric, as upstream does.
    const statuses = proposals.map((proposal) => ("replicas" in proposal ? proposal.status : { type: "" }));
    for (const { reason, why } of bad) recordEvent(one, "Warning", reason, why);
    const best = good.reduce<Extract<MetricProposal, { replicas: number }> | undefined>(
      (most, each) => (most && most.replicas >= each.replicas ? most : each),
      undefined,
    );
    const [first] = bad;
    if (!best || (first && best.replicas < scale.replicas)) {
      const problem = `invalid metrics (${bad.length} invalid out of ${metrics.length}), first error is: ${first?.problem ?? ""}`;
      if (first)
        set(one, "ScalingActive", false, first.reason, `the HPA was unable to compute the replica count: ${first.why}`);
      recordEvent(one, "Warning", "FailedComputeMetricsReplicas", problem);
      return { name: "", metrics: statuses };
    }
    set(
      one,
      "ScalingActive",
      true,
      "ValidMetricFound",
      `the HPA was able to successfully calculate a replica count from ${best.name}`,
    );
    return { replicas: best.replicas, name: best.name, metrics: statuses };
  }

  function podsOf(one: Evaluation, { selector }: Scale): ReadonlyPod[] | undefined {
    if (selector === "") {
      recordEvent(one, "Warning", "SelectorRequired", "selector is required");
      set(one, "ScalingActive", false, "InvalidSelector", "the HPA target's scale is missing a selector");
      return undefined;
    }
    const parsed = parseLabelSelector(selector);
    return pods
      .list({ cluster: one.key.cluster, namespace: one.key.namespace ?? "" })
      .filter(({ metadata }) => matchesLabels(parsed, metadata.labels));
  }
}

const toleranceOf = (text: string | number | undefined): number =>
  text === undefined ? DEFAULT_TOLERANCE : milliOf(text) / 1000;

function statusOf(
  { autoscaler, conditions }: Evaluation,
  currentReplicas: number,
  desiredReplicas: number,
  metrics: Status["currentMetrics"] | undefined,
): Status {
  const { lastScaleTime } = autoscaler.status ?? {};
  return {
    lastScaleTime: lastScaleTime || undefined,
    currentReplicas: currentReplicas > 0 ? currentReplicas : undefined,
    desiredReplicas,
    currentMetrics: metrics && metrics.length > 0 ? metrics : undefined,
    conditions: [...conditions],
  };
}

/** Reason and message may change every time; the time is that of the last status change. */
function withCondition(
  conditions: readonly Condition[],
  { type, status, reason, message }: { type: string; status: "True" | "False"; reason: string; message: string },
  nowMs: number,
): readonly Condition[] {
  const before = conditions.find((condition) => condition.type === type);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(nowMs);
  const next: Condition = { type, status, lastTransitionTime: lastTransitionTime || undefined, reason, message };
  return before ? conditions.map((condition) => (condition === before ? next : condition)) : [...conditions, next];
}
