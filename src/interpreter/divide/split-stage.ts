/** One stage of a rollout over the members: the template's partition, the order that it asks for, and how far each member has come. */
import type { KubernetesObject } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { Share } from "../kind-interpreter.ts";
import { planUpdated } from "./plan-updated.ts";
import { continues, type Stage } from "./release.ts";
import { rolloutOrderOf } from "./rollout-order.ts";
import { keptPods, partitionFor, sumOf, type IntOrPercent } from "./split-partition.ts";

export interface StageOptions {
  /** The pods of each share. */
  readonly sizes: readonly number[];
  readonly stage: Stage;
  /** How many pods a copy of the same release updates already. */
  updatedBy(copy: DeepReadonly<KubernetesObject>, index: number): number;
  /** How the kind reads a percentage. */
  readonly rounding?: "ceil" | "floor";
}

/** By share: how many pods the stage updates. */
export function splitStage(object: DeepReadonly<KubernetesObject>, shares: readonly Share[], { sizes, stage, updatedBy, rounding = "ceil" }: StageOptions): number[] {
  const total = sumOf(sizes);
  const order = rolloutOrderOf(object, shares);
  const isUnderWay = shares.some(({ copy }) => copy !== undefined);
  const before = shares.map(({ copy }, index) => {
    // A member that joins in the middle creates its pods from the newest template whatever its partition says: they count
    // as updated, and the others go that much less far.
    if (!copy) return isUnderWay ? (sizes[index] ?? 0) : 0;
    return continues(copy, stage, total, rounding) ? updatedBy(copy, index) : 0;
  });
  const updated = order === "hold" ? 0 : total - keptPods(stage.partition, total, rounding);
  return planUpdated({ sizes, updated, order: order === "hold" ? "spread" : order, before });
}

/** As partitions. */
export function partitionsOf(sizes: readonly number[], updated: readonly number[]): IntOrPercent[] {
  return sizes.map((size, index) => partitionFor(size, updated[index] ?? 0));
}
