/**
 * One stage of a rollout over the members: the template's partition, the order that it asks for, and how far each
 * member has come.
 */
import type { KubernetesObject } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { Share } from "../kind-interpreter.ts";
import { planUpdated } from "./plan-updated.ts";
import type { RolloutOrder } from "./rollout-order.ts";
import { keptPods, sumOf, type IntOrPercent } from "./split-partition.ts";

type Copy = DeepReadonly<KubernetesObject>;

export interface StageOptions {
  /** The pods of each share. */
  readonly sizes: readonly number[];
  readonly partition: IntOrPercent;
  readonly order: RolloutOrder;
  /** How the kind reads a percentage. */
  readonly rounding?: "ceil" | "floor";
  /** The template's partition at the time of a copy; undefined when the copy is of another release. */
  partitionBefore(copy: Copy): IntOrPercent | undefined;
  /** How many pods a copy of this release updates already. */
  updatedBy(copy: Copy, index: number): number;
}

/** By share: how many pods the stage updates. */
export function splitStage(
  shares: readonly Share[],
  { sizes, partition, order, rounding = "ceil", partitionBefore, updatedBy }: StageOptions,
): number[] {
  const total = sumOf(sizes);
  const kept = keptPods(partition, total, rounding);
  const isUnderWay = shares.some(({ copy }) => copy !== undefined);
  const before = shares.map(({ copy }, index) => {
    // A member that joins in the middle creates its pods from the newest template whatever its partition says: they
    // count as updated, and the others go that much less far.
    if (!copy) return isUnderWay ? (sizes[index] ?? 0) : 0;
    const earlier = partitionBefore(copy);
    // A partition that keeps more back than it did was raised by a person, who wants just that.
    return earlier !== undefined && kept <= keptPods(earlier, total, rounding) ? updatedBy(copy, index) : 0;
  });
  return order === "hold"
    ? planUpdated({ sizes, updated: 0, order: "spread", before })
    : planUpdated({ sizes, updated: total - kept, order, before });
}
