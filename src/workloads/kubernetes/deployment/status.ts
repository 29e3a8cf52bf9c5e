/**
 * What a Deployment says about itself: counts over its ReplicaSets, and the conditions Available and Progressing.
 *
 * Reads: the Deployment, its status so far, its ReplicaSets. Writes nothing.
 */
import type { DeploymentCondition, DeploymentStatus } from "../../../api/index.ts";
import { formatTime } from "../../../base/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import { timeMs } from "../pod.ts";
import type { ReadonlyReplicaSet } from "../replicaset/plan.ts";
import { replicasOf, sumOf } from "./replica-sets.ts";
import type { ReadonlyDeployment } from "./replica-sets.ts";
import { limitsOf } from "./rollout.ts";

type Status = DeepReadonly<DeploymentStatus>;
type Condition = DeepReadonly<DeploymentCondition>;

/** What Kubernetes waits for when the Deployment does not say, and the value that waits for ever. */
const DEFAULT_DEADLINE_SECONDS = 600;
const NO_DEADLINE = 2_147_483_647;

export function planDeploymentStatus(deployment: ReadonlyDeployment, newReplicaSet: ReadonlyReplicaSet | undefined, old: readonly ReadonlyReplicaSet[], nowMs: number): Status {
  const all = newReplicaSet ? [...old, newReplicaSet] : old;
  const counts = {
    replicas: sumOf(all, ({ status }) => status?.replicas),
    updatedReplicas: newReplicaSet?.status?.replicas ?? 0,
    readyReplicas: sumOf(all, ({ status }) => status?.readyReplicas),
    availableReplicas: sumOf(all, ({ status }) => status?.availableReplicas),
    unavailableReplicas: Math.max(0, sumOf(all, replicasOf) - sumOf(all, ({ status }) => status?.availableReplicas)),
  };
  const before = deployment.status;
  const conditions = [availableCondition(deployment, counts.availableReplicas), progressingCondition(deployment, counts, newReplicaSet, nowMs)]
    .filter((condition) => condition !== undefined)
    .map((condition) => withTimes(condition, before?.conditions?.find(({ type }) => type === condition.type), nowMs));
  const others = before?.conditions?.filter(({ type }) => type !== "Available" && type !== "Progressing") ?? [];
  // Zeros are left out, as Kubernetes leaves them out.
  const present = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...present,
    conditions: [...conditions, ...others],
    ...(before?.collisionCount !== undefined && { collisionCount: before.collisionCount }),
  };
}

function availableCondition(deployment: ReadonlyDeployment, available: number): Condition {
  const isAvailable = available >= replicasOf(deployment) - limitsOf(deployment).maxUnavailable;
  return isAvailable
    ? { type: "Available", status: "True", reason: "MinimumReplicasAvailable", message: "Deployment has minimum availability." }
    : { type: "Available", status: "False", reason: "MinimumReplicasUnavailable", message: "Deployment does not have minimum availability." };
}

interface Counts {
  replicas: number;
  updatedReplicas: number;
  readyReplicas: number;
  availableReplicas: number;
}

function progressingCondition(deployment: ReadonlyDeployment, counts: Counts, newReplicaSet: ReadonlyReplicaSet | undefined, nowMs: number): Condition | undefined {
  const { spec, status: before } = deployment;
  const deadlineSeconds = spec.progressDeadlineSeconds ?? DEFAULT_DEADLINE_SECONDS;
  const current = before?.conditions?.find(({ type }) => type === "Progressing");
  if (spec.paused) return { type: "Progressing", status: "Unknown", reason: "DeploymentPaused", message: "Deployment is paused" };
  if (deadlineSeconds === NO_DEADLINE) return undefined;

  const what = newReplicaSet ? `ReplicaSet "${newReplicaSet.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const replicas = replicasOf(deployment);
  const complete = counts.updatedReplicas === replicas && counts.replicas === replicas && counts.availableReplicas === replicas;
  if (complete) return { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable", message: `${what} has successfully progressed.` };
  // A finished rollout whose pods fail later is unavailable, not unfinished.
  const finished = current?.reason === "NewReplicaSetAvailable" && counts.updatedReplicas === counts.replicas && counts.updatedReplicas > 0;
  if (current && finished) return current;
  const progressed =
    !current ||
    current.reason === "DeploymentPaused" ||
    current.reason === "NewReplicaSetAvailable" ||
    counts.updatedReplicas > (before?.updatedReplicas ?? 0) ||
    counts.readyReplicas > (before?.readyReplicas ?? 0) ||
    counts.availableReplicas > (before?.availableReplicas ?? 0) ||
    counts.replicas - counts.updatedReplicas < (before?.replicas ?? 0) - (before?.updatedReplicas ?? 0);
  if (progressed) return { type: "Progressing", status: "True", reason: "ReplicaSetUpdated", message: `${what} is progressing.` };
  const isLate = timeMs(current.lastUpdateTime) + deadlineSeconds * 1000 < nowMs;
  if (isLate && current.status !== "False") return { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: `${what} has timed out progressing.` };
  return current;
}

/** `lastUpdateTime` tells of every news, `lastTransitionTime` only of a changed status. */
function withTimes(condition: Condition, before: Condition | undefined, nowMs: number): Condition {
  if (condition === before) return before;
  const now = formatTime(nowMs);
  // The same words again are no news, unless they say that something moves.
  const isSame = before?.status === condition.status && before.reason === condition.reason && before.message === condition.message;
  const lastUpdateTime = isSame && condition.reason !== "ReplicaSetUpdated" ? (before.lastUpdateTime ?? now) : now;
  return { ...condition, lastUpdateTime, lastTransitionTime: before?.status === condition.status ? (before.lastTransitionTime ?? now) : now };
}

/** Milliseconds until the deadline of a rollout that does not move has passed, or undefined when none is running. */
export function deploymentDeadlineInMs({ spec }: ReadonlyDeployment, status: Status, nowMs: number): number | undefined {
  const progressing = status.conditions?.find(({ type }) => type === "Progressing");
  const deadlineSeconds = spec.progressDeadlineSeconds ?? DEFAULT_DEADLINE_SECONDS;
  if (progressing?.reason !== "ReplicaSetUpdated" || deadlineSeconds === NO_DEADLINE) return undefined;
  // One second more, because stored times are whole seconds.
  return Math.max(1, timeMs(progressing.lastUpdateTime) + (deadlineSeconds + 1) * 1000 - nowMs);
}
