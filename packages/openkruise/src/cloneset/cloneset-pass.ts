/**
 * One pass over the pods of a CloneSet: scales, or else updates. The planners decide; a failure is a value until the
 * status is written.
 */
import { messageOf } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { EventRecorder } from "@flotilla/controller-runtime";
import { WriteAllError } from "@flotilla/kubernetes";
import type { FeatureGates } from "../api/feature-gates.ts";
import type { StatusInput } from "./cloneset-status.ts";
import type { DiffInput } from "./diff.ts";
import type { PodWriter } from "./pod-writer.ts";
import { changesNothing, planScale } from "./plan-scale.ts";
import type { ScaleInput } from "./plan-scale.ts";
import type { Scene } from "./scene.ts";
import { changesPods, planUpdate } from "./update.ts";

export interface PassResult {
  failures: StatusInput["failures"];
  changed: boolean;
  /** Requeue after this time; 0 if an event will trigger the next reconcile. */
  delayMs: number;
}

/** Retry interval for a pod that a budget blocks. */
const HELD_RETRY_MS = 1_000;

export interface PassDependencies {
  writer: PodWriter;
  gates: FeatureGates;
  clock: Clock;
  recorder: EventRecorder | undefined;
  nodeOf(cluster: string, name: string): ReturnType<ScaleInput["nodeOf"]>;
}

/** Scales, or else updates. */
export async function runPass(deps: PassDependencies, scene: Scene): Promise<PassResult> {
  const { cloneSet, owner, active, revisions } = scene;
  const input = {
    cloneSet,
    pods: active,
    currentRevision: revisions.current.metadata.name,
    updateRevision: revisions.update.metadata.name,
    gates: deps.gates,
    nowMs: deps.clock.now(),
  };
  const scale = planScale({ ...input, nodeOf: (name) => deps.nodeOf(owner.cluster, name) });
  if (scale.limit !== undefined)
    deps.recorder?.record(owner.cluster, cloneSet, {
      type: "Warning",
      reason: "ScaleUpLimited",
      message: `scaleUp is limited because of scaleStrategy.maxUnavailable, limit: ${scale.limit}`,
    });
  const scaled = await attempt("FailedScale", deps.writer.scale(scene, scale));
  if (!changesNothing(scale)) return { failures: scaled.failures, changed: true, delayMs: 0 };
  const { failures, result } = await attempt("FailedUpdate", runUpdate(deps.writer, scene, input));
  return {
    changed: false,
    delayMs: 0,
    ...result,
    failures: [...scaled.failures, ...failures, ...(result?.failures ?? [])],
  };
}

async function runUpdate(writer: PodWriter, scene: Scene, input: DiffInput): Promise<PassResult> {
  const planned = planUpdate({ ...input, revisions: scene.known });
  // A pod without a node does not need the readiness gate yet, and placement is about to write it: two writes at once
  // would conflict.
  const update = {
    ...planned,
    refresh: planned.refresh.filter(({ pod, after }) => pod.spec.nodeName || after.metadata !== pod.metadata),
  };
  const failures: PassResult["failures"] =
    update.failure !== undefined ? [{ type: "FailedUpdate", message: update.failure }] : [];
  if ((await writer.update(scene, update)) === "held") return { failures, changed: false, delayMs: HELD_RETRY_MS };
  return { failures, changed: changesPods(update), delayMs: update.delayMs };
}

/** A failure is written to the status first and thrown afterwards, so it is a value until then. */
async function attempt<T>(
  type: "FailedScale" | "FailedUpdate",
  writes: Promise<T>,
): Promise<{ failures: StatusInput["failures"]; result?: T }> {
  try {
    return { failures: [], result: await writes };
  } catch (error) {
    const message = messageOf(error instanceof WriteAllError ? error.cause : error);
    return { failures: [{ type, message, cause: error }] };
  }
}
