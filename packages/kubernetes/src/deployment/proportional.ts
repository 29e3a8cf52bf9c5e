/**
 * Scales a Deployment: during a rollout the difference is distributed among its ReplicaSets in proportion to their
 * size, so that a bad rollout does not grow beyond its share.
 */
import { DEPLOYMENT_DESIRED_REPLICAS_ANNOTATION, DEPLOYMENT_MAX_REPLICAS_ANNOTATION } from "../well-known-names.ts";
import type { ReadonlyReplicaSet } from "../replicaset/plan-replicaset.ts";
import { replicasOf, sumOf } from "./replica-sets.ts";
import type { ReadonlyDeployment } from "./replica-sets.ts";
import type { Limits } from "./rollout-limits.ts";

/** New sizes by name; only changed ones. */
export function planProportionally(
  deployment: ReadonlyDeployment,
  newReplicaSet: ReadonlyReplicaSet | undefined,
  old: readonly ReadonlyReplicaSet[],
  { maxSurge }: Limits,
): ReadonlyMap<string, number> {
  const replicas = replicasOf(deployment);
  const all = newReplicaSet ? [...old, newReplicaSet] : old;
  const active = all.filter((set) => replicasOf(set) > 0);
  const only = active.length === 1 ? active[0] : active.length === 0 ? (newReplicaSet ?? old.at(-1)) : undefined;
  if (only) return changed([[only, replicas]]);
  if (newReplicaSet && isSaturated(newReplicaSet, replicas))
    return changed(active.filter((set) => set !== newReplicaSet).map((set) => [set, 0]));
  if (deployment.spec.strategy?.type === "Recreate") return new Map();

  const allowed = replicas > 0 ? replicas + maxSurge : 0;
  let left = allowed - sumOf(active, replicasOf);
  if (left === 0) return new Map();
  // Largest first; ties go to the newest when growing and the oldest when shrinking, which keeps the rollout moving.
  const ordered = active.toSorted((a, b) => replicasOf(b) - replicasOf(a) || (left > 0 ? byAge(b, a) : byAge(a, b)));
  const growing = left > 0;
  const sizes = new Map<ReadonlyReplicaSet, number>();
  for (const set of ordered) {
    const fraction = fractionOf(set, deployment, allowed);
    const share = growing ? Math.min(fraction, left) : Math.max(fraction, left);
    sizes.set(set, Math.max(0, replicasOf(set) + share));
    left -= share;
  }
  const first = ordered[0];
  // The rounding remainder is added to the largest.
  if (first) sizes.set(first, Math.max(0, (sizes.get(first) ?? 0) + left));
  return changed([...sizes]);
}

function changed(sizes: readonly (readonly [ReadonlyReplicaSet, number])[]): ReadonlyMap<string, number> {
  return new Map(
    sizes.filter(([set, size]) => size !== replicasOf(set)).map(([{ metadata }, size]) => [metadata.name, size]),
  );
}

/** The new ReplicaSet is complete, so the others only wait to be scaled down. */
function isSaturated(set: ReadonlyReplicaSet, replicas: number): boolean {
  return (
    replicasOf(set) === replicas &&
    Number(set.metadata.annotations?.[DEPLOYMENT_DESIRED_REPLICAS_ANNOTATION]) === replicas &&
    (set.status?.availableReplicas ?? 0) === replicas
  );
}

function fractionOf(set: ReadonlyReplicaSet, deployment: ReadonlyDeployment, allowed: number): number {
  if (replicasOf(deployment) === 0) return -replicasOf(set);
  // Without the annotation the previous size can only be estimated.
  const before =
    Number(set.metadata.annotations?.[DEPLOYMENT_MAX_REPLICAS_ANNOTATION]) || (deployment.status?.replicas ?? 0);
  return before > 0 ? Math.round((replicasOf(set) * allowed) / before) - replicasOf(set) : 0;
}

function byAge(a: ReadonlyReplicaSet, b: ReadonlyReplicaSet): number {
  const left = a.metadata.creationTimestamp ?? "";
  const right = b.metadata.creationTimestamp ?? "";
  return left < right ? -1 : left > right ? 1 : 0;
}
