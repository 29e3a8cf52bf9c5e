/**
 * The decisions of a BroadcastJob: one pod that runs to completion on every node that fits. Pure;
 * `broadcastjob-controller.ts` executes them.
 *
 * Nodes that join while the job runs get a pod too. A pod that no longer fits its node is deleted and counts as failed.
 */
import type { BroadcastJob } from "./broadcastjob-kind.ts";
import type {
  JobCondition as BroadcastJobCondition,
  BroadcastJobStatus,
} from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { compareText, formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { RecordedEvent } from "@flotilla/controller-runtime";
import { isActive, targetNode, timeMs } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { legacyShare } from "../int-or-percent.ts";
import { couldRunOn, fitsNode } from "./node-fit.ts";
import type { ReadonlyNode } from "./node-fit.ts";

export type ReadonlyBroadcastJob = DeepReadonly<BroadcastJob>;

export interface BroadcastInput {
  job: ReadonlyBroadcastJob;
  /** All nodes of the cluster. */
  nodes: readonly ReadonlyNode[];
  /** The pods of the job. */
  pods: readonly ReadonlyPod[];
  nowMs: number;
}

export interface BroadcastPlan {
  /** Nodes that get a pod. */
  create: readonly string[];
  remove: readonly ReadonlyPod[];
  /** Its ttlSecondsAfterFinished is over. */
  removeJob: boolean;
  /** The status after the other actions. */
  status: DeepReadonly<BroadcastJobStatus>;
  events: readonly RecordedEvent[];
  /** Requeue after this time; 0 if an event will trigger the next reconcile. */
  requeueAfterMs: number;
}

type CountedStatus = BroadcastJobStatus &
  Required<Pick<BroadcastJobStatus, "active" | "failed" | "succeeded" | "desired" | "phase">>;

export function isFinished({ spec, status }: ReadonlyBroadcastJob): boolean {
  if (spec.completionPolicy?.type === "Never") return false;
  return (
    status?.conditions?.some(
      ({ type, status: value }) => (type === "Complete" || type === "Failed") && value === "True",
    ) ?? false
  );
}

export function planBroadcastJob(input: BroadcastInput): BroadcastPlan {
  const { job, nowMs } = input;
  const { completionPolicy, failurePolicy, paused = false } = job.spec;
  if (isFinished(job)) return planFinished(input);

  const events: RecordedEvent[] = [];
  const counted = countPods(input.pods, failurePolicy?.restartLimit ?? 0);
  const places = viewPlaces(input, events);
  let requeueAfterMs = 0;
  if (!job.status?.startTime && completionPolicy?.type === "Always")
    requeueAfterMs = (completionPolicy.activeDeadlineSeconds ?? 0) * 1000;
  const startTime = job.status?.startTime ?? formatTime(nowMs);
  const status: CountedStatus = {
    ...(job.status as BroadcastJobStatus | undefined),
    startTime,
    phase: job.status?.phase || "running",
    active: counted.active.length,
    failed: counted.failed.length,
    succeeded: counted.succeeded.length,
    desired: places.desired.size,
  };
  const result = (parts: Partial<BroadcastPlan> = {}): BroadcastPlan => ({
    create: [],
    remove: [],
    removeJob: false,
    status,
    events,
    requeueAfterMs,
    ...parts,
  });

  if (status.phase === "failed") return result();
  if (paused && (status.phase === "running" || status.phase === "paused"))
    return result({ status: { ...status, phase: "paused" } });
  if (!paused && status.phase === "paused") {
    status.phase = "running";
    events.push({ type: "Normal", reason: "Continue", message: "continue to process job" });
  }
  if (counted.failed.length > 0 && failurePolicy?.type === "Pause") {
    events.push({ type: "Warning", reason: "Paused", message: "job is paused, due to failed pod" });
    return result({ status: { ...status, phase: "paused" } });
  }
  const failure = failureOf(job, startTime, counted.failed.length, nowMs);
  if (failure) {
    const { reason, message, emitsEvent } = failure;
    const notify = (failed: number): RecordedEvent => ({
      type: "Warning",
      reason,
      message: `${message}: ${status.succeeded} pods succeeded, ${failed} pods failed`,
    });
    if (emitsEvent) events.push(notify(status.failed));
    const failed = status.failed + counted.active.length;
    events.push(notify(failed));
    return result({
      remove: counted.active,
      status: finished({ ...status, failed, active: 0, phase: "failed" }, "Failed", message, nowMs),
      requeueAfterMs: keepMs(job),
    });
  }
  const { remove } = places;
  const active = status.active - remove.length;
  const create = job.metadata.deletionTimestamp ? [] : nodesToStart(job, places, active, events);
  const after = { ...status, failed: status.failed + remove.length, active: active + create.length };
  if (!isComplete(job, places)) return result({ create, remove, status: after });
  const summary = `${status.succeeded} pods succeeded, ${after.failed} pods failed`;
  events.push({
    type: "Normal",
    reason: "JobComplete",
    message: `Job ${job.metadata.namespace}/${job.metadata.name} is completed, ${summary}`,
  });
  return result({
    create,
    remove,
    status: finished({ ...after, phase: "completed" }, "Complete", `Job completed, ${summary}`, nowMs),
    requeueAfterMs: keepMs(job),
  });
}

/** A finished job waits for its deletion, if it has a TTL. */
function planFinished({ job, nowMs }: BroadcastInput): BroadcastPlan {
  const { ttlSecondsAfterFinished: ttl } = job.spec.completionPolicy ?? {};
  const leftMs =
    ttl === undefined || !job.status?.completionTime
      ? undefined
      : timeMs(job.status.completionTime) + ttl * 1000 - nowMs;
  const status = job.status ?? { active: 0, failed: 0, succeeded: 0, desired: 0 };
  return {
    create: [],
    remove: [],
    removeJob: leftMs !== undefined && leftMs <= 0,
    status,
    events: [],
    requeueAfterMs: Math.max(0, leftMs ?? 0),
  };
}

interface Counted {
  active: ReadonlyPod[];
  failed: ReadonlyPod[];
  succeeded: ReadonlyPod[];
}

/** Terminating pods count only if they have ended. */
function countPods(pods: readonly ReadonlyPod[], restartLimit: number): Counted {
  const counted: Counted = { active: [], failed: [], succeeded: [] };
  for (const pod of pods) {
    const { phase } = pod.status ?? {};
    if (phase === "Succeeded") counted.succeeded.push(pod);
    else if (phase === "Failed") counted.failed.push(pod);
    else if (!pod.metadata.deletionTimestamp)
      (restartsTooOften(pod, restartLimit) ? counted.failed : counted.active).push(pod);
  }
  return counted;
}

function restartsTooOften({ spec, status }: ReadonlyPod, limit: number): boolean {
  if (spec.restartPolicy !== "OnFailure") return false;
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return statuses.reduce((sum, { restartCount }) => sum + (restartCount ?? 0), 0) > limit;
}

interface Places {
  /** Every node that needs a pod, with its existing pod. */
  desired: Map<string, ReadonlyPod | undefined>;
  /** Nodes without a pod, by name. */
  free: string[];
  /** Pods that no longer fit their node. */
  remove: ReadonlyPod[];
}

function viewPlaces({ job, nodes, pods }: BroadcastInput, events: RecordedEvent[]): Places {
  const byNode = new Map<string, ReadonlyPod>();
  for (const pod of pods) {
    const node = targetNode(pod) ?? "";
    if (byNode.has(node))
      events.push({
        type: "Warning",
        reason: "DuplicatePodCreatedOnSameNode",
        message: `Duplicated pod ${pod.metadata.name} found on same node ${node}`,
      });
    byNode.set(node, pod);
  }
  const template = { spec: job.spec.template?.spec ?? { containers: [] } };
  const places: Places = { desired: new Map(), free: [], remove: [] };
  for (const node of nodes.toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))) {
    const { name } = node.metadata;
    const pod = byNode.get(name);
    if (pod && !pod.metadata.deletionTimestamp && !fitsNode(pod, node)) places.remove.push(pod);
    else if (pod) places.desired.set(name, pod);
    // A template with a nodeName still runs on every node, as upstream does.
    else if (couldRunOn(template, node)) {
      places.desired.set(name, undefined);
      places.free.push(name);
    }
  }
  return places;
}

/** The largest count of upstream: no limit. */
const UNLIMITED = 2 ** 31 - 1;

/** Undefined for an invalid percentage: then no pod is created. */
function parallelismOf({ parallelism = UNLIMITED }: ReadonlyBroadcastJob["spec"], desired: number): number | undefined {
  return legacyShare(parallelism, desired, "up");
}

/** Why a running job creates no pods although it could. */
export function parallelismProblem({ metadata, spec }: ReadonlyBroadcastJob): string | undefined {
  if (parallelismOf(spec, 1) !== undefined) return undefined;
  return (
    `running BroadcastJob ${metadata.namespace}/${metadata.name}: its parallelism ` +
    `${JSON.stringify(spec.parallelism)} is neither a number nor a percentage`
  );
}

function nodesToStart(
  { spec }: ReadonlyBroadcastJob,
  { free, desired }: Places,
  active: number,
  events: RecordedEvent[],
): string[] {
  if (free.length === 0) return [];
  const parallelism = parallelismOf(spec, desired.size);
  if (parallelism === undefined) return [];
  if (active > parallelism)
    events.push({
      type: "Warning",
      reason: "TooManyActivePods",
      message: "Number of active pods exceed parallelism limit",
    });
  return free.slice(0, Math.max(0, parallelism - active));
}

function failureOf(
  { metadata, spec }: ReadonlyBroadcastJob,
  startTime: string,
  failed: number,
  nowMs: number,
): { reason: string; message: string; emitsEvent: boolean } | undefined {
  if (failed > 0 && spec.failurePolicy?.type === "FailFast") {
    return {
      reason: "failed pod is found",
      message: "failure policy is FailurePolicyTypeFailFast and failed pod is found",
      emitsEvent: true,
    };
  }
  const { type, activeDeadlineSeconds: deadline } = spec.completionPolicy ?? {};
  if (type === "Never" || deadline === undefined || nowMs - timeMs(startTime) < deadline * 1000) return undefined;
  return {
    reason: "DeadlineExceeded",
    message: `Job ${metadata.namespace}/${metadata.name} was active longer than specified deadline`,
    emitsEvent: false,
  };
}

/** Every node has a pod that has ended or is terminating. */
function isComplete({ spec }: ReadonlyBroadcastJob, { desired }: Places): boolean {
  if (spec.completionPolicy?.type === "Never" || desired.size === 0) return false;
  return [...desired.values()].every((pod) => pod !== undefined && !isActive(pod));
}

function finished(
  status: BroadcastJobStatus,
  type: "Complete" | "Failed",
  message: string,
  nowMs: number,
): BroadcastJobStatus {
  const time = formatTime(nowMs);
  const condition: BroadcastJobCondition = {
    type,
    status: "True",
    lastProbeTime: time,
    lastTransitionTime: time,
    reason: type,
    message,
  };
  return { ...status, conditions: [...(status.conditions ?? []), condition], completionTime: time };
}

/** Slightly longer than the TTL. */
const keepMs = ({ spec }: ReadonlyBroadcastJob): number => {
  const { ttlSecondsAfterFinished: ttl } = spec.completionPolicy ?? {};
  return ttl === undefined ? 0 : (ttl + 1) * 1000;
};

/** Milliseconds until the deadline of a running job. The deadline of a paused job counts once it is resumed. */
export function deadlineInMs({ spec, status }: ReadonlyBroadcastJob, nowMs: number): number | undefined {
  const { type, activeDeadlineSeconds: deadline } = spec.completionPolicy ?? {};
  if (
    type === "Never" ||
    deadline === undefined ||
    !status?.startTime ||
    status.phase === "failed" ||
    status.phase === "paused"
  )
    return undefined;
  return Math.max(1, timeMs(status.startTime) + deadline * 1000 - nowMs);
}
