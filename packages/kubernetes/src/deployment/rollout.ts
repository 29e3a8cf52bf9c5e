/**
 * One step of a Deployment: which ReplicaSet to create and the current size of each.
 *
 * A rolling update never has more pods than `replicas + maxSurge` nor fewer available ones than `replicas −
 * maxUnavailable`. Every step is computed from the observed state, so repeating a step changes nothing. Reads: the
 * Deployment and its ReplicaSets. Writes nothing; `deployment-controller.ts` executes the plan.
 */
import { DEPLOYMENT_DESIRED_REPLICAS_ANNOTATION } from "../well-known-names.ts";
import { equalJson, defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ReplicaSet } from "../replicaset/replicaset-kind.ts";
import { scaledValue } from "@flotilla/apimachinery";
import type { ReadonlyReplicaSet } from "../replicaset/plan-replicaset.ts";
import { planProportionally } from "./proportional.ts";
import {
  findNewReplicaSet,
  makeReplicaSet,
  newestAnnotations,
  replicasOf,
  revisionOf,
  scaleAnnotations,
  sumOf,
} from "./replica-sets.ts";
import type { ReadonlyDeployment } from "./replica-sets.ts";
import type { Limits } from "./rollout-limits.ts";

export interface RolloutInput {
  deployment: ReadonlyDeployment;
  /** Oldest first. */
  replicaSets: readonly ReadonlyReplicaSet[];
  /** Whether a ReplicaSet still has unfinished pods, including terminating ones. */
  hasPods(replicaSet: ReadonlyReplicaSet): boolean;
}

export interface RolloutPlan {
  newReplicaSet?: ReadonlyReplicaSet;
  old: readonly ReadonlyReplicaSet[];
  create?: DeepReadonly<ReplicaSet>;
  /** New sizes, by name of the ReplicaSet; only changed ones. */
  sizes: ReadonlyMap<string, number>;
  revision: bigint;
  maxReplicas: number;
}

/** Kubernetes' default for an unset limit. */
const DEFAULT_LIMIT = "25%";

export function limitsOf(deployment: ReadonlyDeployment): Limits {
  const { strategy } = deployment.spec;
  const replicas = replicasOf(deployment);
  if (strategy?.type === "Recreate" || replicas === 0) return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = scaledValue(strategy?.rollingUpdate?.maxSurge ?? DEFAULT_LIMIT, replicas, { roundUp: true });
  const maxUnavailable = scaledValue(strategy?.rollingUpdate?.maxUnavailable ?? DEFAULT_LIMIT, replicas, {
    roundUp: false,
  });
  // Both can round to zero, and then nothing would ever progress.
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : Math.min(maxUnavailable, replicas) };
}

export function planRollout(input: RolloutInput): RolloutPlan {
  const { deployment, replicaSets } = input;
  const newReplicaSet = findNewReplicaSet(deployment, replicaSets);
  const old = replicaSets.filter((set) => set !== newReplicaSet);
  const limits = limitsOf(deployment);
  const maxReplicas = replicasOf(deployment) + limits.maxSurge;
  const newestOld = old.map(revisionOf).reduce((newest, revision) => (revision > newest ? revision : newest), 0n);
  const known = newReplicaSet ? revisionOf(newReplicaSet) : 0n;
  const plan: RolloutPlan = {
    newReplicaSet,
    old,
    sizes: new Map(),
    revision: known > newestOld ? known : newestOld + 1n,
    maxReplicas,
  };

  if (deployment.spec.paused || isScaled(deployment, replicaSets))
    return { ...plan, sizes: planProportionally(deployment, newReplicaSet, old, limits) };
  return deployment.spec.strategy?.type === "Recreate" ? recreate(input, plan) : rollingUpdate(input, plan, limits);
}

/** `spec.replicas` changed since the ReplicaSets were sized. */
function isScaled(deployment: ReadonlyDeployment, sets: readonly ReadonlyReplicaSet[]): boolean {
  return sets.some((set) => {
    const desired = set.metadata.annotations?.[DEPLOYMENT_DESIRED_REPLICAS_ANNOTATION];
    return replicasOf(set) > 0 && desired !== undefined && Number(desired) !== replicasOf(deployment);
  });
}

function withNew({ deployment }: RolloutInput, plan: RolloutPlan, replicas: number): RolloutPlan {
  const { newReplicaSet, revision, maxReplicas } = plan;
  if (!newReplicaSet)
    return {
      ...plan,
      create: makeReplicaSet(deployment, {
        replicas,
        revision,
        maxReplicas,
        collisionCount: deployment.status?.collisionCount ?? 0,
      }),
    };
  if (replicasOf(newReplicaSet) === replicas) return plan;
  return { ...plan, sizes: new Map([[newReplicaSet.metadata.name, replicas]]) };
}

/** All old pods must be removed before the first new one starts. */
function recreate(input: RolloutInput, plan: RolloutPlan): RolloutPlan {
  const running = plan.old.filter((set) => replicasOf(set) > 0);
  if (running.length > 0) return { ...plan, sizes: new Map(running.map(({ metadata }) => [metadata.name, 0])) };
  if (plan.old.some((set) => (set.status?.replicas ?? 0) > 0 || input.hasPods(set))) return plan;
  return withNew(input, plan, replicasOf(input.deployment));
}

function rollingUpdate(input: RolloutInput, plan: RolloutPlan, limits: Limits): RolloutPlan {
  const replicas = replicasOf(input.deployment);
  const { newReplicaSet, old } = plan;
  const newSize = newReplicaSet ? replicasOf(newReplicaSet) : 0;
  const total = newSize + sumOf(old, replicasOf);
  // The new ReplicaSet first: it grows within the surge, or shrinks if it is too large.
  const grown =
    newSize > replicas
      ? replicas
      : newSize + Math.max(0, Math.min(replicas + limits.maxSurge - total, replicas - newSize));
  if (!newReplicaSet || grown !== newSize) return withNew(input, plan, grown);
  return { ...plan, sizes: shrinkOld(newReplicaSet, old, replicas, limits) };
}

function shrinkOld(
  newReplicaSet: ReadonlyReplicaSet,
  old: readonly ReadonlyReplicaSet[],
  replicas: number,
  { maxUnavailable }: Limits,
): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  const oldTotal = sumOf(old, replicasOf);
  if (oldTotal === 0) return sizes;
  const minAvailable = replicas - maxUnavailable;
  const newUnavailable = replicasOf(newReplicaSet) - (newReplicaSet.status?.availableReplicas ?? 0);
  let room = oldTotal + replicasOf(newReplicaSet) - minAvailable - newUnavailable;
  if (room <= 0) return sizes;

  // Unhealthy pods are removed first; they cost no availability and could otherwise block the rollout forever.
  const sizeOf = (set: ReadonlyReplicaSet): number => sizes.get(set.metadata.name) ?? replicasOf(set);
  for (const set of old) {
    const unhealthy = Math.min(room, replicasOf(set) - (set.status?.availableReplicas ?? 0));
    if (replicasOf(set) === 0 || unhealthy <= 0) continue;
    sizes.set(set.metadata.name, replicasOf(set) - unhealthy);
    room -= unhealthy;
  }

  let spare = sumOf([newReplicaSet, ...old], ({ status }) => status?.availableReplicas) - minAvailable;
  for (const set of old) {
    const shrinkBy = Math.min(sizeOf(set), spare);
    if (shrinkBy <= 0) continue;
    sizes.set(set.metadata.name, sizeOf(set) - shrinkBy);
    spare -= shrinkBy;
  }
  return sizes;
}

/** Kubernetes' default for an unset limit. */
const DEFAULT_HISTORY_LIMIT = 10;

/** Old ReplicaSets beyond `revisionHistoryLimit` that are empty and not terminating. */
export function planCleanup(deployment: ReadonlyDeployment, old: readonly ReadonlyReplicaSet[]): ReadonlyReplicaSet[] {
  const isEmpty = ({ spec, status, metadata }: ReadonlyReplicaSet): boolean =>
    replicasOf({ spec }) === 0 &&
    (status?.replicas ?? 0) === 0 &&
    (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0);
  const alive = old.filter(({ metadata }) => !metadata.deletionTimestamp);
  const excess = alive.length - (deployment.spec.revisionHistoryLimit ?? DEFAULT_HISTORY_LIMIT);
  if (excess <= 0) return [];
  return alive
    .toSorted((a, b) => Number(revisionOf(a) - revisionOf(b)))
    .slice(0, excess)
    .filter(isEmpty);
}

export interface Resize {
  from: ReadonlyReplicaSet;
  to: ReadonlyReplicaSet;
}

/** The ReplicaSets whose size or annotations differ from the plan. */
export function planResizes(
  deployment: ReadonlyDeployment,
  sets: readonly ReadonlyReplicaSet[],
  plan: RolloutPlan,
): Resize[] {
  return sets.flatMap((from) => {
    const to = resized(deployment, from, plan);
    return to ? [{ from, to }] : [];
  });
}

/** The ReplicaSet with the planned size, or undefined if it is correct. */
function resized(
  deployment: ReadonlyDeployment,
  set: ReadonlyReplicaSet,
  plan: RolloutPlan,
): ReadonlyReplicaSet | undefined {
  const size = plan.sizes.get(set.metadata.name) ?? replicasOf(set);
  const isNew = set === plan.newReplicaSet;
  const annotations = isNew
    ? newestAnnotations(deployment, set.metadata.annotations ?? {}, plan.revision)
    : { ...set.metadata.annotations };
  if (size > 0) Object.assign(annotations, scaleAnnotations(deployment, plan.maxReplicas));
  const minReadySeconds = isNew ? (deployment.spec.minReadySeconds ?? 0) : (set.spec.minReadySeconds ?? 0);
  const isRight =
    size === replicasOf(set) &&
    minReadySeconds === (set.spec.minReadySeconds ?? 0) &&
    equalJson(annotations, set.metadata.annotations ?? {});
  if (isRight) return undefined;
  return {
    ...set,
    metadata: { ...set.metadata, annotations },
    spec: {
      ...set.spec,
      replicas: size,
      ...defined({
        minReadySeconds: (set.spec.minReadySeconds ?? 0) !== minReadySeconds ? minReadySeconds : undefined,
      }),
    },
  };
}
