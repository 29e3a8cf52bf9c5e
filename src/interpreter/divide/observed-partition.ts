/**
 * Splits a partition over members by a count that only they know: the nodes a DaemonSet runs on, the pods a SidecarSet
 * matches. A member that has not reported yet is held, because a share of nothing would let all of it through. When the
 * counts move, the binding's status says so and the division is made again.
 */
import type { KubernetesObject } from "../../api/index.ts";
import { isObject, type DeepReadonly } from "../../base/index.ts";
import type { Share } from "../kind-interpreter.ts";
import { countOf } from "../replica-status.ts";
import { isSameRelease, type Stage } from "./release.ts";
import { keptPods, type IntOrPercent } from "./split-partition.ts";
import { partitionsOf, splitStage } from "./split-stage.ts";

export interface ObservedPartition {
  /** The field of a member's status that counts its pods. */
  readonly counter: string;
  readonly rounding: "ceil" | "floor";
  partitionOf(copy: DeepReadonly<KubernetesObject>): IntOrPercent | undefined;
}

export function splitByObserved(object: DeepReadonly<KubernetesObject>, shares: readonly Share[], stage: Stage, { counter, rounding, partitionOf }: ObservedPartition): IntOrPercent[] {
  const isKnown = shares.map(({ observed }) => isObject(observed) && typeof observed[counter] === "number");
  const sizes = shares.map(({ observed }) => (isObject(observed) ? Math.max(0, countOf(observed[counter])) : 0));
  // The count at the time of the earlier division is not known; what it kept back is, and no more than that is kept now.
  const updatedBy = (copy: DeepReadonly<KubernetesObject>, index: number): number => (sizes[index] ?? 0) - keptPods(partitionOf(copy), sizes[index] ?? 0, rounding);
  const partitions = partitionsOf(sizes, splitStage(object, shares, { sizes, stage, rounding, updatedBy }));
  // A member that is silent for a moment keeps the partition that it has in this release.
  return partitions.map((partition, index) => {
    const copy = shares[index]?.copy;
    return !isKnown[index] && copy && isSameRelease(copy, stage) ? (partitionOf(copy) ?? partition) : partition;
  });
}
