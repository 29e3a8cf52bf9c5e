/**
 * Decides the revisions of a Deployment on the hub: one ReplicaSet without replicas for each of its pod templates, as a
 * cluster's Deployment controller leaves them behind, so that `kubectl rollout history` and `undo` find them. Pure.
 */
import {
  DEPLOYMENT_REVISION_ANNOTATION,
  findNewReplicaSet,
  makeReplicaSet,
  newestAnnotations,
  revisionOf,
} from "@flotilla/kubernetes";
import type { Deployment, ReplicaSet } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";

type Set = DeepReadonly<ReplicaSet>;

export interface ReplicaSetPlan {
  readonly create?: Set;
  readonly update?: Set;
  readonly remove: readonly Set[];
  /** The Deployment's annotation; unset if it is up to date. */
  readonly revision?: string;
}

/** Kubernetes' default for an unset limit. */
const DEFAULT_HISTORY_LIMIT = 10;
const CHANGE_CAUSE = "kubernetes.io/change-cause";

/** `sets` are those of the Deployment. `collisionCount` changes the name of a new one. */
export function planReplicaSets(
  deployment: DeepReadonly<Deployment>,
  sets: readonly Set[],
  collisionCount = 0,
): ReplicaSetPlan {
  const newest = findNewReplicaSet(deployment, sets);
  const old = sets.filter((set) => set !== newest).toSorted((a, b) => Number(revisionOf(a) - revisionOf(b)));
  const last = old.at(-1);
  const next = (last ? revisionOf(last) : 0n) + 1n;
  const number = newest && revisionOf(newest) >= next ? revisionOf(newest) : next;
  const surplus = old.length - (deployment.spec.revisionHistoryLimit ?? DEFAULT_HISTORY_LIMIT);
  return {
    ...(newest
      ? planUpdate(deployment, newest, number)
      : { create: makeReplicaSet(deployment, { replicas: 0, revision: next, maxReplicas: 0, collisionCount }) }),
    remove: old.slice(0, Math.max(0, surplus)),
    ...planAnnotation(deployment, number),
  };
}

/** The newest revision has the annotations of the Deployment when it became the newest, and its current change cause. */
function planUpdate(deployment: DeepReadonly<Deployment>, set: Set, number: bigint): Pick<ReplicaSetPlan, "update"> {
  const { annotations = {} } = set.metadata;
  const isNewest = revisionOf(set) === number;
  if (isNewest && annotations[CHANGE_CAUSE] === deployment.metadata.annotations?.[CHANGE_CAUSE]) return {};
  const { [CHANGE_CAUSE]: _before, ...rest } = annotations;
  const next = newestAnnotations(deployment, rest, number);
  return { update: { ...set, metadata: { ...set.metadata, annotations: next } } };
}

/** The first revision is not written onto the Deployment: most are never changed. */
function planAnnotation({ metadata }: DeepReadonly<Deployment>, number: bigint): Pick<ReplicaSetPlan, "revision"> {
  const current = metadata.annotations?.[DEPLOYMENT_REVISION_ANNOTATION];
  if (current === String(number) || (current === undefined && number === 1n)) return {};
  return { revision: String(number) };
}
