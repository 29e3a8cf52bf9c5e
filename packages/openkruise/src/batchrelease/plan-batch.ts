/**
 * Carries a BatchRelease out: it lowers the partition of a workload batch by batch and waits for the pods of each batch. Pure.
 *
 * The partition is only lowered: a batch that was updated stays updated. The plan of the release says how far it may go.
 */
import { controllerReference, fnv1a32, scaledValue } from "@flotilla/apimachinery";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { IntOrString } from "@flotilla/apimachinery/facts/scalars.ts";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { CONTROL_INFO, ROLLBACK_IN_BATCH, ROLLOUT_BATCH_ID, ROLLOUT_ID } from "../released-workload/rollout-names.ts";
import { closedPartition, hasRevision, partitionPatch } from "../released-workload/released-workload.ts";
import type { ReleasedWorkload } from "../released-workload/released-workload.ts";
import type { BatchRelease } from "./batchrelease-kind.ts";

type Release = DeepReadonly<BatchRelease>;
type Plan = Release["spec"]["releasePlan"];
export type BatchStatus = NonNullable<BatchRelease["status"]>;
type CanaryStatus = NonNullable<BatchStatus["canaryStatus"]>;

export interface BatchInput {
  readonly release: Release;
  /** Undefined if it does not exist. */
  readonly workload: ReleasedWorkload | undefined;
  /** The pods of the workload. */
  readonly pods: readonly ReadonlyPod[];
  readonly nowMs: number;
}

export interface BatchPlan {
  readonly status: BatchStatus;
  /** A merge patch of the workload, before the status is written. */
  readonly patch?: JsonObject;
  /** Pods that a batch has updated, with its number from 1. */
  readonly labels: readonly { pod: ReadonlyPod; batch: number }[];
}

/** The part of a plan whose change restarts a batch. */
export const planHash = ({ batches, rolloutID }: Plan): string =>
  fnv1a32(JSON.stringify([batches ?? [], rolloutID ?? ""])).toString(16);

export function planBatch(input: BatchInput): BatchPlan {
  const { release, workload } = input;
  const { releasePlan } = release.spec;
  const canary: CanaryStatus = { currentBatch: 0, ...release.status?.canaryStatus };
  const status = {
    phase: "Preparing",
    observedWorkloadReplicas: -1,
    ...release.status,
    canaryStatus: canary,
    observedGeneration: release.metadata.generation,
  } as BatchStatus;
  if (release.status?.phase === "Completed") return { status: { ...status, phase: "Completed" }, labels: [] };
  const isFinal =
    release.metadata.deletionTimestamp !== undefined ||
    releasePlan.batchPartition === undefined ||
    status.phase === "Finalizing";
  if (isFinal || (!workload && release.status?.phase !== undefined)) return finalize(input, status);
  if (!workload) return { status, labels: [] };
  const isProgressing = status.phase === "Progressing";
  const hash = planHash(releasePlan);
  if (isProgressing && status.observedReleasePlanHash !== hash) recalculate(release, status, canary);
  else if (isProgressing && canary.currentBatch >= (releasePlan.batches ?? []).length) restart(canary);
  else if (!workload.isObserved) return { status, labels: [] };
  else if (isProgressing && workload.updated !== workload.present) {
    const change = changeOf(input, status, workload);
    if (change === "wait") return { status, labels: [] };
  }
  canary.updatedReplicas = workload.updated;
  canary.updatedReadyReplicas = workload.updatedReady;
  status.observedReleasePlanHash ??= hash;
  status.observedRolloutID = releasePlan.rolloutID;
  return status.phase === "Progressing"
    ? progress(input, status, canary, workload)
    : prepare(input, status, canary, workload);
}

/** What happened to the workload meanwhile. */
function changeOf({ release }: BatchInput, status: BatchStatus, workload: ReleasedWorkload): "wait" | undefined {
  const canary = status.canaryStatus as CanaryStatus;
  const { replicas, updateRevision, stableRevision } = workload;
  if (status.observedWorkloadReplicas !== -1 && replicas !== status.observedWorkloadReplicas) {
    startBatch(canary);
    status.observedWorkloadReplicas = replicas;
    return undefined;
  }
  const isAnnotated = (release.metadata.annotations?.[ROLLBACK_IN_BATCH] ?? "") !== "";
  const isReturn = updateRevision === stableRevision && stableRevision !== "";
  if (isReturn && isAnnotated && canary.noNeedUpdateReplicas === undefined) {
    status.phase = "Preparing";
    startBatch(canary);
    return undefined;
  }
  // The Rollout ends this release and begins another.
  return status.updateRevision !== undefined && updateRevision !== status.updateRevision ? "wait" : undefined;
}

function recalculate({ spec, status: before }: Release, status: BatchStatus, canary: CanaryStatus): void {
  const { batchPartition = 0, batches = [], rolloutID } = spec.releasePlan;
  startBatch(canary);
  canary.currentBatch = rolloutID === before?.observedRolloutID ? Math.min(batchPartition, batches.length - 1) : 0;
  status.observedReleasePlanHash = planHash(spec.releasePlan);
}

function restart(canary: CanaryStatus): void {
  startBatch(canary);
  canary.currentBatch = 0;
}

function startBatch(canary: CanaryStatus): void {
  delete canary.batchReadyTime;
  canary.batchState = "Upgrading";
}

function prepare(
  { release }: BatchInput,
  status: BatchStatus,
  canary: CanaryStatus,
  workload: ReleasedWorkload,
): BatchPlan {
  const { object, replicas, stableRevision, updateRevision, updated } = workload;
  status.phase = "Progressing";
  status.stableRevision = stableRevision;
  status.updateRevision = updateRevision;
  status.observedWorkloadReplicas = replicas;
  if ((release.metadata.annotations?.[ROLLBACK_IN_BATCH] ?? "") !== "") canary.noNeedUpdateReplicas = updated;
  if (isControlledBy(release, object)) return { status, labels: [] };
  const patch = {
    metadata: { annotations: { [CONTROL_INFO]: JSON.stringify(controllerReference(release)) } },
    spec: partitionPatch(object, closedPartition(object.kind)),
  };
  return { status, patch, labels: [] };
}

function isControlledBy({ metadata }: Release, object: ReleasedWorkload["object"]): boolean {
  const info = object.metadata.annotations?.[CONTROL_INFO];
  return info !== undefined && metadata.uid !== undefined && info.includes(`"${metadata.uid}"`);
}

function progress(input: BatchInput, status: BatchStatus, canary: CanaryStatus, workload: ReleasedWorkload): BatchPlan {
  const { release, pods, nowMs } = input;
  const { releasePlan } = release.spec;
  const target = targetOf(release, canary, workload);
  const labels = workload.replicas === 0 ? [] : labelsFor(input, canary, workload);
  const isReady = workload.replicas === 0 || isBatchReady(releasePlan, workload, target, pods);
  const partition = loweredPartition(workload, target.partition);
  const patch = partition === undefined ? undefined : { spec: partitionPatch(workload.object, partition) };
  if (!isReady || patch) {
    delete canary.batchReadyTime;
    canary.batchState = canary.batchState === undefined || patch ? "Upgrading" : "Verifying";
    return patch ? { status, patch, labels } : { status, labels };
  }
  canary.batchReadyTime ??= formatTime(nowMs);
  canary.batchState = "Ready";
  if ((releasePlan.batchPartition ?? 0) > canary.currentBatch) {
    canary.currentBatch++;
    startBatch(canary);
  }
  return { status, labels };
}

interface Target {
  /** Pods of the batch and of those before, as the plan counts them. */
  readonly planned: number;
  /** Pods that run the new revision when the batch is complete. */
  readonly updated: number;
  readonly partition: IntOrString;
}

export function targetOf(release: Release, canary: DeepReadonly<CanaryStatus>, workload: ReleasedWorkload): Target {
  const { batches = [] } = release.spec.releasePlan;
  const { replicas, object } = workload;
  const share = batches[canary.currentBatch]?.canaryReplicas ?? "100%";
  const planned = clamped(share, replicas);
  const kept = canary.noNeedUpdateReplicas ?? 0;
  let stable = replicas - planned;
  let updated = planned;
  if (kept > 0) {
    // While it returns, pods that never left the stable revision are not counted as steps.
    stable = replicas - kept - clamped(share, replicas - kept);
    updated = replicas - stable;
    if (object.kind === "StatefulSet") {
      stable += kept;
      updated = replicas - stable + kept;
    }
  }
  const isPercent = object.kind === "CloneSet" && typeof share === "string";
  return { planned, updated, partition: isPercent ? asPercent(stable, replicas, share) : stable };
}

const clamped = (share: IntOrString, replicas: number): number =>
  Math.min(replicas, Math.max(0, scaledValue(share, replicas, { roundUp: true })));

/** The largest whole percentage that keeps no more pods than asked for; one pod at least is updated. */
function asPercent(stable: number, replicas: number, share: IntOrString): string {
  if (stable >= replicas) return "100%";
  if (stable <= 0) return "0%";
  const percent = Math.floor((stable * 100) / replicas);
  return percent === 0 && share !== "100%" ? "1%" : `${percent}%`;
}

function loweredPartition({ partition, replicas }: ReleasedWorkload, wanted: IntOrString): IntOrString | undefined {
  const kept = (share: IntOrString): number => scaledValue(share, replicas, { roundUp: true });
  return kept(partition) > kept(wanted) ? wanted : undefined;
}

/** Its pods are updated, ready except for those that the plan tolerates, and labelled. */
function isBatchReady(
  { failureThreshold, rolloutID }: Plan,
  { updated, updatedReady }: ReleasedWorkload,
  target: Target,
  pods: readonly ReadonlyPod[],
): boolean {
  if (updated < target.updated) return false;
  const tolerated = failureThreshold === undefined ? 0 : scaledValue(failureThreshold, updated, { roundUp: true });
  if (updatedReady + tolerated < target.updated) return false;
  if (target.updated > 0 && updatedReady === 0) return false;
  const labelled = pods.filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined && metadata.labels?.[ROLLOUT_ID] === rolloutID,
  );
  return !rolloutID || pods.length === 0 || labelled.length >= target.planned;
}

/** Updated pods get the numbers of the batches that have room, the present one first. */
function labelsFor(
  { release, pods }: BatchInput,
  canary: DeepReadonly<CanaryStatus>,
  { replicas, updateRevision }: ReleasedWorkload,
): BatchPlan["labels"] {
  const { batches = [], rolloutID } = release.spec.releasePlan;
  if (!rolloutID) return [];
  const upTo = batches.map(({ canaryReplicas }, index) =>
    index <= canary.currentBatch ? clamped(canaryReplicas, replicas) : 0,
  );
  const room = upTo.map((count, index) => (index <= canary.currentBatch ? count - (upTo[index - 1] ?? 0) : 0));
  const open: ReadonlyPod[] = [];
  for (const pod of pods) {
    if (!hasRevision(pod, updateRevision)) continue;
    const { labels = {} } = pod.metadata;
    const batch = labels[ROLLOUT_ID] === rolloutID ? Number(labels[ROLLOUT_BATCH_ID]) : NaN;
    if (Number.isInteger(batch) && batch > 0 && batch <= room.length) room[batch - 1] = (room[batch - 1] ?? 0) - 1;
    else open.push(pod);
  }
  const labels: { pod: ReadonlyPod; batch: number }[] = [];
  for (let index = room.length - 1; index >= 0; index--)
    for (let left = room[index] ?? 0; left > 0; left--) {
      const pod = open.pop();
      if (pod) labels.push({ pod, batch: index + 1 });
    }
  return labels;
}

/** Gives the workload back: promoted, or as it is if the release was deleted meanwhile. */
function finalize({ release, workload }: BatchInput, status: BatchStatus): BatchPlan {
  const done = { status: { ...status, phase: "Completed" }, labels: [] };
  if (!workload) return done;
  const { object } = workload;
  const metadata = { annotations: { [CONTROL_INFO]: null } };
  return release.spec.releasePlan.batchPartition === undefined
    ? { ...done, patch: { metadata, spec: partitionPatch(object, null) } }
    : { ...done, patch: { metadata } };
}
