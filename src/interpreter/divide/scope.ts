/** Whether the numbers in an object's spec count the pods of the fleet or those of each cluster. */
import type { KubernetesObject } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { Share } from "../kind-interpreter.ts";

/** With the value `cluster`, a partition, ordinals and subsets are copied as they are and count in each cluster by itself. */
export const PARTITION_SCOPE = "flotilla.dev/partition-scope";

export function countsPerCluster({ metadata }: DeepReadonly<KubernetesObject>): boolean {
  return metadata.annotations?.[PARTITION_SCOPE] === "cluster";
}

/**
 * Every member runs all replicas: then each has a rollout of its own and there is nothing to divide. Members without any,
 * such as one that is leaving, do not count.
 */
export function isDuplicated(shares: readonly Share[], replicas: number): boolean {
  const running = shares.filter((share) => share.replicas > 0);
  return running.length > 1 && running.every((share) => share.replicas === replicas);
}
