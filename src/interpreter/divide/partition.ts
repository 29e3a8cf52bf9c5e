/**
 * Divides a workload with replicas, a partition and budgets, such as CloneSet. They are in `spec.updateStrategy`, and from
 * v1beta1 on in its `rollingUpdate`.
 */
import type { DeepReadonly } from "../../base/index.ts";
import type { Share } from "../kind-interpreter.ts";
import { withSpecField, type Workload } from "../workload.ts";
import { splitBudgets, splitScaleStrategy, type Budgets } from "./budgets.ts";
import { digestOf, stagedPartition, withStage } from "./release.ts";
import { rolloutOrderOf } from "./rollout-order.ts";
import { countsPerCluster, isDuplicated, stayingOf } from "./scope.ts";
import { letThrough, partitionFor, type IntOrPercent } from "./split-partition.ts";
import { splitStage } from "./split-stage.ts";

interface Strategy extends Budgets {
  partition?: IntOrPercent;
}
export interface Partitioned extends Workload {
  spec?: Workload["spec"] & { updateStrategy?: Strategy & { rollingUpdate?: Strategy }; scaleStrategy?: { maxUnavailable?: IntOrPercent } };
}

type Copy = DeepReadonly<Partitioned>;

/** Replicas, partition and budgets go together in one copy: any of them alone would update more than was asked for, if only for a moment. */
export function dividePartition(object: Copy, given: readonly Share[]): ReadonlyMap<string, Copy> {
  const shares = stayingOf(given);
  const { updateStrategy, scaleStrategy } = object.spec ?? {};
  const sizes = shares.map(({ replicas }) => replicas);
  if (!updateStrategy || countsPerCluster(object) || isDuplicated(shares, object.spec?.replicas ?? 1)) {
    return new Map(shares.map(({ cluster, replicas }) => [cluster, withSpecField(object, "replicas", replicas)]));
  }
  const order = rolloutOrderOf(object, shares);
  const partition = partitionOf(object);
  // One cluster has the whole partition and the whole budget, and reads them by itself.
  const isAlone = shares.length < 2;
  const digest = partition ? digestOf(object.spec?.template) : "";
  const updated = partition && !isAlone ? splitStage(shares, { sizes, partition, order, partitionBefore: (copy) => stagedPartition(copy, digest), updatedBy: updatedIn }) : undefined;
  const strategies = isAlone ? [updateStrategy] : splitStrategy(updateStrategy, sizes);
  const scaling = isAlone ? [scaleStrategy] : splitScaleStrategy(scaleStrategy, sizes);
  return new Map(
    shares.map(({ cluster, replicas }, index) => {
      const strategy = strategies[index] ?? updateStrategy;
      const spec = {
        ...object.spec,
        replicas,
        ...(scaleStrategy && { scaleStrategy: scaling[index] as typeof scaleStrategy }),
        updateStrategy: updated ? withPartition(strategy, partitionFor(replicas, updated[index] ?? 0)) : strategy,
      };
      return [cluster, partition ? withStage({ ...object, spec }, digest, partition) : { ...object, spec }];
    }),
  );
}

export const partitionOf = ({ spec }: Copy): IntOrPercent | undefined => spec?.updateStrategy?.rollingUpdate?.partition ?? spec?.updateStrategy?.partition;

/** What a copy lets its member update. */
function updatedIn(copy: Copy): number {
  return letThrough(partitionOf(copy), copy.spec?.replicas ?? 1);
}

function splitStrategy(strategy: NonNullable<NonNullable<Copy["spec"]>["updateStrategy"]>, sizes: readonly number[]): (typeof strategy)[] {
  const { rollingUpdate } = strategy;
  const outer = splitBudgets(strategy, sizes);
  if (!rollingUpdate) return outer;
  const inner = splitBudgets(rollingUpdate, sizes);
  return outer.map((each, index) => ({ ...each, rollingUpdate: inner[index] ?? rollingUpdate }));
}

function withPartition(strategy: NonNullable<NonNullable<Copy["spec"]>["updateStrategy"]>, partition: IntOrPercent): typeof strategy {
  const { rollingUpdate } = strategy;
  return rollingUpdate?.partition === undefined ? { ...strategy, partition } : { ...strategy, rollingUpdate: { ...rollingUpdate, partition } };
}
