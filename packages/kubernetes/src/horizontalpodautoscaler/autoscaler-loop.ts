/**
 * One evaluation of an autoscaler: reads the scale of its target, plans, writes the scale, and returns the status.
 * HorizontalPodAutoscalers of a cluster and FederatedHPAs of a hub differ in what they plan with.
 */
import { ApiError, parseApiVersion } from "@flotilla/apimachinery";
import { FlotillaError, formatTime, messageOf } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { UnknownKindError } from "@flotilla/client";
import type { Client, ObjectKey } from "@flotilla/client";
import { idOfKey } from "@flotilla/controller-runtime";
import type { EventRecorder } from "@flotilla/controller-runtime";
import { createScales } from "../workloads/scales.ts";
import type { Scale, ScaleTarget } from "../workloads/scales.ts";
import { planAutoscalerStatus } from "./autoscaler-status.ts";
import type { FoundCondition, Status } from "./autoscaler-status.ts";
import type { ScalingPlan } from "./plan-scaling.ts";
import { createHistories } from "./scaling-history.ts";
import type { History, ReadonlyAutoscaler } from "./scaling-limits.ts";

export interface ScalingMoment {
  scale: Scale;
  history: History;
  nowMs: number;
}

export interface AutoscalerLoop {
  /**
   * Returns the new status if the autoscaler is due, or else the time that is left: every change of its status is an
   * event for its controller.
   */
  evaluate(
    autoscaler: ReadonlyAutoscaler,
    key: ObjectKey,
    plan: (moment: ScalingMoment) => ScalingPlan | Promise<ScalingPlan>,
    signal: AbortSignal,
  ): Promise<{ status: Status } | { leftMs: number }>;
  forget(key: ObjectKey): void;
}

export interface AutoscalerLoopOptions {
  client: Client;
  clock: Clock;
  events: EventRecorder | undefined;
  /** How the conditions name the controller, as upstream does. */
  controllerName: string;
  intervalMs: number;
  /** Called before the target is scaled; throws to prevent it. */
  beforeScale?(autoscaler: ReadonlyAutoscaler, from: number, to: number): void;
  /** Called after the target was scaled. */
  onScaled?(autoscaler: ReadonlyAutoscaler, from: number, to: number, reason: string): void;
}

export function createAutoscalerLoop(options: AutoscalerLoopOptions): AutoscalerLoop {
  const { client, clock, events, controllerName, intervalMs, beforeScale, onScaled } = options;
  const scales = createScales(client);
  const histories = createHistories();
  const evaluatedMs = new Map<string, { atMs: number; generation: number | undefined }>();

  return {
    async evaluate(autoscaler, key, plan, signal) {
      const id = idOfKey(key);
      const last = evaluatedMs.get(id);
      const { generation } = autoscaler.metadata;
      const leftMs = last && last.generation === generation ? last.atMs + intervalMs - clock.now() : 0;
      if (leftMs > 0) return { leftMs };
      evaluatedMs.set(id, { atMs: clock.now(), generation });
      return { status: await scaleTarget(autoscaler, key, plan, signal) };
    },
    forget(key) {
      histories.forget(idOfKey(key));
      evaluatedMs.delete(idOfKey(key));
    },
  };

  async function scaleTarget(
    autoscaler: ReadonlyAutoscaler,
    key: ObjectKey,
    planFor: (moment: ScalingMoment) => ScalingPlan | Promise<ScalingPlan>,
    signal: AbortSignal,
  ): Promise<Status> {
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
    const plan = await planFor({ scale, history: histories.of(id), nowMs });
    for (const event of plan.events) events?.record(cluster, autoscaler, event);
    for (const { replicas, atMs } of plan.recommendations) histories.recommended(id, autoscaler, replicas, atMs);

    const { desired, metrics } = plan;
    const found = [
      ableToScale(true, "SucceededGetScale", `the ${controllerName} was able to get the target's current scale`),
      ...plan.conditions,
    ];
    const sizes = {
      currentReplicas: scale.replicas,
      desiredReplicas: desired ?? before?.desiredReplicas ?? 0,
      metrics,
    };
    if (desired === undefined || desired === scale.replicas)
      return planAutoscalerStatus(autoscaler, sizes, found, nowMs);
    try {
      beforeScale?.(autoscaler, scale.replicas, desired);
      await scales.write(target, scale, desired, signal);
    } catch (error) {
      const message = `New size: ${desired}; reason: ${plan.reason}; error: ${messageOf(error)}`;
      events?.record(cluster, autoscaler, { type: "Warning", reason: "FailedRescale", message });
      const unchanged = { ...sizes, desiredReplicas: before?.desiredReplicas ?? 0 };
      return planAutoscalerStatus(autoscaler, unchanged, [...found, notRescaled(error)], nowMs);
    }
    const message = `New size: ${desired}; reason: ${plan.reason}`;
    events?.record(cluster, autoscaler, { type: "Normal", reason: "SuccessfulRescale", message });
    onScaled?.(autoscaler, scale.replicas, desired, plan.reason);
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

  function scaleUnknown(problem: string): FoundCondition {
    const message = `the ${controllerName} was unable to get the target's current scale: ${problem}`;
    return ableToScale(false, "FailedGetScale", message);
  }

  function notRescaled(error: unknown): FoundCondition {
    const message = `the ${controllerName} was unable to update the target scale: ${messageOf(error)}`;
    return ableToScale(false, "FailedUpdateScale", message);
  }

  function rescaled(desired: number): FoundCondition {
    const message = `the ${controllerName} was able to update the target scale to ${desired}`;
    return ableToScale(true, "SucceededRescale", message);
  }
}

function targetOf({ spec }: ReadonlyAutoscaler, { cluster, namespace = "" }: ObjectKey): ScaleTarget {
  const { apiVersion = "", kind, name } = spec.scaleTargetRef;
  return { cluster, namespace, apiVersion, kind, name };
}

const ableToScale = (isTrue: boolean, reason: string, message: string): FoundCondition => ({
  type: "AbleToScale",
  isTrue,
  reason,
  message,
});
