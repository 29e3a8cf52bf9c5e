/** Whether the numbers in an object's spec count the pods of the fleet or those of each cluster. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { DivideError } from "./divide-error.ts";
import type { Share } from "@flotilla/kubernetes";
import { PARTITION_SCOPE } from "./rollout-annotations.ts";

/** Throws DivideError for an unknown value. */
export function countsPerCluster({ kind, metadata }: DeepReadonly<KubernetesObject>): boolean {
  const scope = metadata.annotations?.[PARTITION_SCOPE] ?? "fleet";
  if (scope === "cluster" || scope === "fleet") return scope === "cluster";
  throw new DivideError(
    `dividing ${kind} ${metadata.name}: annotation ${PARTITION_SCOPE} is ${JSON.stringify(scope)}; it must be fleet or cluster`,
  );
}

/** Every member runs all replicas: each has its own rollout and there is nothing to divide. */
export function isDuplicated(shares: readonly Share[], replicas: number): boolean {
  const staying = stayingOf(shares);
  if (staying.some(({ isWhole }) => isWhole !== undefined))
    return staying.length > 1 && staying.every(({ isWhole }) => isWhole);
  return staying.length > 1 && replicas > 0 && staying.every((share) => share.replicas === replicas);
}

/** Without leaving members, which get no replicas. */
export function stayingOf(shares: readonly Share[]): readonly Share[] {
  return shares.some(({ leaving }) => leaving) ? shares.filter(({ leaving }) => !leaving) : shares;
}

/** Whether every member runs all replicas of the workloads that an object concerns, so that its numbers are not divided. */
export function areWhole(shares: readonly Share[]): boolean {
  const known = stayingOf(shares).flatMap(({ workloads }) => workloads ?? []);
  return known.length > 0 && known.every(({ isWhole }) => isWhole);
}
