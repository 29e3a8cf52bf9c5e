/**
 * The status of a Deployment: counts over its ReplicaSets, and the conditions Available and Progressing.
 *
 * Reads: the Deployment, its previous status, its ReplicaSets. Writes nothing.
 */
import type { DeploymentCondition, DeploymentStatus } from "@flotilla/apimachinery/facts/apps-v1.ts";
import { formatTime, defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { timeMs } from "../pod/pod-state.ts";
import type { ReadonlyReplicaSet } from "../replicaset/plan-replicaset.ts";
import { replicasOf, sumOf } from "./replica-sets.ts";
import type { ReadonlyDeployment } from "./replica-sets.ts";
import { limitsOf } from "./rollout.ts";

type Status = DeepReadonly<DeploymentStatus>;
type Condition = DeepReadonly<DeploymentCondition>;

/** Kubernetes' default deadline, and the value that disables it. */
const DEFAULT_DEADLINE_SECONDS = 600;
const NO_DEADLINE = 2_147_483_647;

export function planDeploymentStatus(
  deployment: ReadonlyDeployment,
  newReplicaSet: ReadonlyReplicaSet | undefined,
  old: readonly ReadonlyReplicaSet[],
  nowMs: number,
): Status {
  const all = newReplicaSet ? [...old, newReplicaSet] : old;
  const counts = {
    replicas: sumOf(all, ({ status }) => status?.replicas),
    updatedReplicas: newReplicaSet?.status?.replicas ?? 0,
    readyReplicas: sumOf(all, ({ status }) => status?.readyReplicas),
    availableReplicas: sumOf(all, ({ status }) => status?.availableReplicas),
    unavailableReplicas: Math.max(0, sumOf(all, replicasOf) - sumOf(all, ({ status }) => status?.availableReplicas)),
  };
  const before = deployment.status;
  let conditions: readonly Condition[] = before?.conditions ?? [];
  conditions = withCondition(conditions, availableCondition(deployment, counts.availableReplicas), nowMs);
  conditions = withProgress(conditions, progressingCondition(deployment, counts, newReplicaSet, nowMs), nowMs);
  conditions = withFailure(conditions, newReplicaSet, all);
  // Zeros are omitted, as in Kubernetes.
  const present = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
  const isTerminatingKnown = all.every(({ status }) => status?.terminatingReplicas !== undefined);
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...present,
    ...defined({
      terminatingReplicas: isTerminatingKnown ? sumOf(all, ({ status }) => status?.terminatingReplicas) : undefined,
    }),
    conditions: [...conditions],
    ...defined({ collisionCount: before?.collisionCount }),
  };
}

/** A changed condition is appended, as in upstream; the same status with the same reason is not a change. */
function withCondition(conditions: readonly Condition[], condition: Condition, nowMs: number): readonly Condition[] {
  const before = conditions.find(({ type }) => type === condition.type);
  if (before?.status === condition.status && before.reason === condition.reason) return conditions;
  return [...conditions.filter((each) => each !== before), dated(condition, before, nowMs)];
}

/** `lastUpdateTime` changes with every update, `lastTransitionTime` only with the status. */
function dated(condition: Condition, before: Condition | undefined, nowMs: number): Condition {
  const now = formatTime(nowMs);
  return {
    ...condition,
    lastUpdateTime: now,
    lastTransitionTime: before?.status === condition.status ? (before.lastTransitionTime ?? now) : now,
  };
}

/** Every progress updates the condition; "none" means that no deadline applies. */
function withProgress(
  conditions: readonly Condition[],
  condition: Condition | "none",
  nowMs: number,
): readonly Condition[] {
  const before = conditions.find(({ type }) => type === "Progressing");
  if (condition === "none") return before ? conditions.filter((each) => each !== before) : conditions;
  if (condition === before) return conditions;
  if (condition.reason === "ReplicaSetUpdated")
    return [...conditions.filter((each) => each !== before), dated(condition, before, nowMs)];
  return withCondition(conditions, condition, nowMs);
}

/** The failure of a ReplicaSet, that of the newest first. */
function withFailure(
  conditions: readonly Condition[],
  newReplicaSet: ReadonlyReplicaSet | undefined,
  all: readonly ReadonlyReplicaSet[],
): readonly Condition[] {
  const failures = [...(newReplicaSet ? [newReplicaSet] : []), ...all].flatMap(
    ({ status }) => status?.conditions?.filter(({ type }) => type === "ReplicaFailure") ?? [],
  );
  const [failure] = failures;
  const before = conditions.find(({ type }) => type === "ReplicaFailure");
  if (!failure) return before ? conditions.filter((each) => each !== before) : conditions;
  if (before?.status === failure.status && before.reason === failure.reason) return conditions;
  return [
    ...conditions.filter((each) => each !== before),
    { ...failure, lastUpdateTime: failure.lastTransitionTime || undefined },
  ];
}

function availableCondition(deployment: ReadonlyDeployment, available: number): Condition {
  const isAvailable = available >= replicasOf(deployment) - limitsOf(deployment).maxUnavailable;
  return isAvailable
    ? {
        type: "Available",
        status: "True",
        reason: "MinimumReplicasAvailable",
        message: "Deployment has minimum availability.",
      }
    : {
        type: "Available",
        status: "False",
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      };
}

interface Counts {
  replicas: number;
  updatedReplicas: number;
  readyReplicas: number;
  availableReplicas: number;
}

function progressingCondition(
  deployment: ReadonlyDeployment,
  counts: Counts,
  newReplicaSet: ReadonlyReplicaSet | undefined,
  nowMs: number,
): Condition | "none" {
  const { spec, status: before } = deployment;
  const deadlineSeconds = spec.progressDeadlineSeconds ?? DEFAULT_DEADLINE_SECONDS;
  const known = before?.conditions?.find(({ type }) => type === "Progressing");
  if (deadlineSeconds === NO_DEADLINE) return "none";
  if (spec.paused)
    return known?.reason === "ProgressDeadlineExceeded"
      ? known
      : { type: "Progressing", status: "Unknown", reason: "DeploymentPaused", message: "Deployment is paused" };

  // The deadline of a paused rollout starts again.
  const isResumed = known?.reason === "DeploymentPaused";
  const current: Condition | undefined = isResumed
    ? {
        type: "Progressing",
        status: "Unknown",
        reason: "DeploymentResumed",
        message: "Deployment is resumed",
        lastUpdateTime: formatTime(nowMs),
      }
    : known;
  const what = newReplicaSet
    ? `ReplicaSet "${newReplicaSet.metadata.name}"`
    : `Deployment "${deployment.metadata.name}"`;
  const replicas = replicasOf(deployment);
  const complete =
    counts.updatedReplicas === replicas && counts.replicas === replicas && counts.availableReplicas === replicas;
  if (complete)
    return {
      type: "Progressing",
      status: "True",
      reason: "NewReplicaSetAvailable",
      message: `${what} has successfully progressed.`,
    };
  // A finished rollout whose pods fail later is unavailable, not unfinished.
  const finished =
    current?.reason === "NewReplicaSetAvailable" &&
    counts.updatedReplicas === counts.replicas &&
    counts.updatedReplicas > 0;
  if (current && finished) return current;
  const isNew = !current || current.reason === "NewReplicaSetAvailable";
  if (isNew && newReplicaSet && counts.updatedReplicas === 0)
    return {
      type: "Progressing",
      status: "True",
      reason: "NewReplicaSetCreated",
      message: `Created new replica set "${newReplicaSet.metadata.name}"`,
    };
  const progressed =
    isNew ||
    counts.updatedReplicas > (before?.updatedReplicas ?? 0) ||
    counts.readyReplicas > (before?.readyReplicas ?? 0) ||
    counts.availableReplicas > (before?.availableReplicas ?? 0) ||
    counts.replicas - counts.updatedReplicas < (before?.replicas ?? 0) - (before?.updatedReplicas ?? 0);
  if (progressed)
    return { type: "Progressing", status: "True", reason: "ReplicaSetUpdated", message: `${what} is progressing.` };
  const isLate = timeMs(current.lastUpdateTime) + deadlineSeconds * 1000 < nowMs;
  if (isLate && current.reason !== "ProgressDeadlineExceeded")
    return {
      type: "Progressing",
      status: "False",
      reason: "ProgressDeadlineExceeded",
      message: `${what} has timed out progressing.`,
    };
  return current;
}

/** The status if the next ReplicaSet could not be created. */
export function createFailedStatus(deployment: ReadonlyDeployment, message: string, nowMs: number): Status {
  const { status = {}, spec } = deployment;
  if ((spec.progressDeadlineSeconds ?? DEFAULT_DEADLINE_SECONDS) === NO_DEADLINE) return status;
  const conditions = withCondition(
    status.conditions ?? [],
    { type: "Progressing", status: "False", reason: "ReplicaSetCreateError", message },
    nowMs,
  );
  return { ...status, conditions: [...conditions] };
}

/** Milliseconds until the deadline of a stalled rollout, or undefined if none applies. */
export function deploymentDeadlineInMs(
  { spec }: ReadonlyDeployment,
  status: Status,
  nowMs: number,
): number | undefined {
  const progressing = status.conditions?.find(({ type }) => type === "Progressing");
  const deadlineSeconds = spec.progressDeadlineSeconds ?? DEFAULT_DEADLINE_SECONDS;
  const isWatched = progressing && !UNWATCHED.has(progressing.reason ?? "");
  if (!isWatched || deadlineSeconds === NO_DEADLINE) return undefined;
  // One second more, because stored times are whole seconds.
  return Math.max(1, timeMs(progressing.lastUpdateTime) + (deadlineSeconds + 1) * 1000 - nowMs);
}

/** Rollouts that are complete, already timed out, or paused. */
const UNWATCHED: ReadonlySet<string> = new Set([
  "NewReplicaSetAvailable",
  "ProgressDeadlineExceeded",
  "DeploymentPaused",
]);
