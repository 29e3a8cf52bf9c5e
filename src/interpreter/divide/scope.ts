/** Whether the numbers in an object's spec count the pods of the fleet or those of each cluster. */
import type { KubernetesObject } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { DivideError } from "./divide-error.ts";
import type { Share } from "../kind-interpreter.ts";

/**
 * With the value `cluster`, a partition, budgets, ordinals and subsets are copied as they are and count in each cluster
 * by itself. `fleet` is what holds without the annotation.
 */
export const PARTITION_SCOPE = "flotilla.dev/partition-scope";

/** Throws DivideError for a value that is not known. */
export function countsPerCluster({ kind, metadata }: DeepReadonly<KubernetesObject>): boolean {
  const scope = metadata.annotations?.[PARTITION_SCOPE] ?? "fleet";
  if (scope === "cluster" || scope === "fleet") return scope === "cluster";
  throw new DivideError(
    `dividing ${kind} ${metadata.name}: annotation ${PARTITION_SCOPE} is ${JSON.stringify(scope)}; it can be fleet or cluster`,
  );
}

/** Every member runs all replicas: then each has a rollout of its own and there is nothing to divide. */
export function isDuplicated(shares: readonly Share[], replicas: number): boolean {
  const staying = stayingOf(shares);
  if (staying.some(({ isWhole }) => isWhole !== undefined))
    return staying.length > 1 && staying.every(({ isWhole }) => isWhole);
  return staying.length > 1 && replicas > 0 && staying.every((share) => share.replicas === replicas);
}

/** Without the members that are leaving: they get nothing any more. */
export function stayingOf(shares: readonly Share[]): readonly Share[] {
  return shares.some(({ leaving }) => leaving) ? shares.filter(({ leaving }) => !leaving) : shares;
}
