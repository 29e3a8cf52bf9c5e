/**
 * Splits a partition over members by a count that only they know: the nodes a DaemonSet runs on, the pods a SidecarSet
 * matches. A member that has not reported yet is held, because a share of zero would let all of it through. When the
 * counts change, the binding's status changes and the division is computed again.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { countOf } from "@flotilla/kubernetes";
import { stagedPartition, stagedUpdated } from "./release.ts";
import type { RolloutOrder } from "./rollout-order.ts";
import { partitionFor, type IntOrPercent } from "./split-partition.ts";
import { splitStage } from "./split-stage.ts";

type Copy = DeepReadonly<KubernetesObject>;

export interface ObservedPartition {
  readonly order: RolloutOrder;
  /** The member status field that counts its pods. */
  readonly counter: string;
  readonly rounding: "ceil" | "floor";
  /** Digest of the release. */
  readonly digest: string;
  partitionOf(copy: Copy): IntOrPercent | undefined;
}

/** One member's part: its partition, and the number of pods that it lets through. */
export interface ObservedShare {
  readonly partition: IntOrPercent;
  readonly updated: number;
}

export function splitByObserved(
  shares: readonly Share[],
  partition: IntOrPercent,
  given: ObservedPartition,
): ObservedShare[] {
  const { order, counter, rounding, digest, partitionOf } = given;
  const isKnown = shares.map(({ observed }) => isObject(observed) && typeof observed[counter] === "number");
  const sizes = shares.map(({ observed }) => (isObject(observed) ? Math.max(0, countOf(observed[counter])) : 0));
  const split = splitStage(shares, {
    sizes,
    partition,
    order,
    rounding,
    partitionBefore: (copy) => stagedPartition(copy, digest),
    updatedBy: (copy) => stagedUpdated(copy, digest),
  });
  return shares.map(({ copy }, index) => {
    // A member that briefly stops reporting keeps its partition within the release.
    const kept = !isKnown[index] && copy && stagedPartition(copy, digest) !== undefined ? partitionOf(copy) : undefined;
    if (copy && kept !== undefined) return { partition: kept, updated: stagedUpdated(copy, digest) };
    const updated = split[index] ?? 0;
    return { partition: partitionFor(sizes[index] ?? 0, updated), updated };
  });
}
