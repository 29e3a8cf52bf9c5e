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
import { planAutoscalerStatus } from "./autoscaler-status.ts";
import type { FoundCondition, Status } from "./autoscaler-status.ts";
import { planScaling } from "./plan-scaling.ts";
import { createHistories } from "./scaling-history.ts";
import type { ReadonlyAutoscaler } from "./scaling-limits.ts";

const SYNC_MS = 15_000;

const SCALE_FOUND = ableToScale(
  true,
  "SucceededGetScale",
  "the HPA controller was able to get the target's current scale",
);

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
      const status = await evaluate(autoscaler, key, signal);
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

  /** Scales the target if necessary, and returns the new status. */
  async function evaluate(autoscaler: ReadonlyAutoscaler, key: ObjectKey, signal: AbortSignal): Promise<Status> {
    const nowMs = clock.now();
    const { cluster } = key;
    const id = idOfKey(key);
    const target = targetOf(autoscaler, key);
    const before = autoscaler.status;
    const scale = await readScale(target, signal);
    if (typeof scale === "string") {
      events?.record(cluster, autoscaler, { type: "Warning", reason: "FailedGetScale", message: scale });
      const sizes = {
        currentReplicas: before?.currentReplicas ?? 0,
        desiredReplicas: before?.desiredReplicas ?? 0,
        metrics: before?.currentMetrics,
      };
      return planAutoscalerStatus(autoscaler, sizes, [scaleUnknown(scale)], nowMs);
    }
    const plan = planScaling({
      autoscaler,
      cluster,
      scale,
      history: histories.of(id),
      podsOf: (selector) => podsOf(key, selector),
      usage,
      nowMs,
    });
    for (const event of plan.events) events?.record(cluster, autoscaler, event);
    for (const { replicas, atMs } of plan.recommendations) histories.recommended(id, autoscaler, replicas, atMs);

    const { desired, metrics } = plan;
    const found = [SCALE_FOUND, ...plan.conditions];
    const sizes = {
      currentReplicas: scale.replicas,
      desiredReplicas: desired ?? before?.desiredReplicas ?? 0,
      metrics,
    };
    if (desired === undefined || desired === scale.replicas)
      return planAutoscalerStatus(autoscaler, sizes, found, nowMs);
    try {
      await scales.write(target, scale, desired, signal);
    } catch (error) {
      const message = `New size: ${desired}; reason: ${plan.reason}; error: ${messageOf(error)}`;
      events?.record(cluster, autoscaler, { type: "Warning", reason: "FailedRescale", message });
      const unchanged = { ...sizes, desiredReplicas: before?.desiredReplicas ?? 0 };
      return planAutoscalerStatus(autoscaler, unchanged, [...found, notRescaled(error)], nowMs);
    }
    const message = `New size: ${desired}; reason: ${plan.reason}`;
    events?.record(cluster, autoscaler, { type: "Normal", reason: "SuccessfulRescale", message });
    histories.scaled(id, autoscaler, scale.replicas, desired, nowMs);
    const status = planAutoscalerStatus(autoscaler, sizes, [...found, rescaled(desired)], nowMs);
    return { ...status, lastScaleTime: formatTime(nowMs) };
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

  function podsOf({ cluster, namespace = "" }: ObjectKey, selector: string): ReadonlyPod[] {
    const parsed = parseLabelSelector(selector);
    return pods.list({ cluster, namespace }).filter(({ metadata }) => matchesLabels(parsed, metadata.labels));
  }
}

function targetOf({ spec }: ReadonlyAutoscaler, { cluster, namespace = "" }: ObjectKey): ScaleTarget {
  const { apiVersion = "", kind, name } = spec.scaleTargetRef;
  return { cluster, namespace, apiVersion, kind, name };
}

function ableToScale(isTrue: boolean, reason: string, message: string): FoundCondition {
  return { type: "AbleToScale", isTrue, reason, message };
}

const scaleUnknown = (problem: string): FoundCondition =>
  ableToScale(false, "FailedGetScale", `the HPA controller was unable to get the target's current scale: ${problem}`);

const notRescaled = (error: unknown): FoundCondition =>
  ableToScale(
    false,
    "FailedUpdateScale",
    `the HPA controller was unable to update the target scale: ${messageOf(error)}`,
  );

const rescaled = (desired: number): FoundCondition =>
  ableToScale(true, "SucceededRescale", `the HPA controller was able to update the target scale to ${desired}`);
