/**
 * Splits one stage of a rollout over the members: from the template's partition, the requested order, and the progress
 * of each member.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { planUpdated } from "./plan-updated.ts";
import type { RolloutOrder } from "./rollout-order.ts";
import { keptPods, sumOf, type IntOrPercent } from "./split-partition.ts";

type Copy = DeepReadonly<KubernetesObject>;

export interface StageOptions {
  /** The pods of each share. */
  readonly sizes: readonly number[];
  readonly partition: IntOrPercent;
  readonly order: RolloutOrder;
  /** How the kind rounds a percentage. */
  readonly rounding?: "ceil" | "floor";
  /** The template's partition when a copy was made; undefined when the copy belongs to another release. */
  partitionBefore(copy: Copy): IntOrPercent | undefined;
  /** The number of pods that a copy of this release already updates. */
  updatedBy(copy: Copy, index: number): number;
}

/** By share: the number of pods that the stage updates. */
export function splitStage(shares: readonly Share[], options: StageOptions): number[] {
  const { sizes, partition, order, rounding = "ceil", partitionBefore, updatedBy } = options;
  const total = sumOf(sizes);
  const kept = keptPods(partition, total, rounding);
  const hasBegun = shares.some(({ copy }) => copy !== undefined);
  const before = shares.map(({ copy }, index) => {
    // A member that joins during a rollout creates its pods from the newest template regardless of its partition: they
    // count as updated, and the others update that many fewer.
    if (!copy) return hasBegun ? (sizes[index] ?? 0) : 0;
    const earlier = partitionBefore(copy);
    // A partition that keeps more back than before was raised by a user, so the progress so far does not count.
    return earlier !== undefined && kept <= keptPods(earlier, total, rounding) ? updatedBy(copy, index) : 0;
  });
  return order === "hold"
    ? planUpdated({ sizes, updated: 0, order: "spread", before })
    : planUpdated({ sizes, updated: total - kept, order, before });
}
