/**
 * Divides a workload with replicas, a partition and budgets, such as CloneSet. They are in `spec.updateStrategy`, and from
 * v1beta1 on in its `rollingUpdate`.
 */
import type { DeepReadonly } from "../../base/index.ts";
import type { Share } from "../kind-interpreter.ts";
import { withSpecField, type Workload } from "../workload.ts";
import { splitBudgets, splitScaleStrategy, type Budgets } from "./budgets.ts";
import { stageOf, withStage } from "./release.ts";
import { countsPerCluster, isDuplicated } from "./scope.ts";
import { keptPods, type IntOrPercent } from "./split-partition.ts";
import { partitionsOf, splitStage } from "./split-stage.ts";

interface Strategy extends Budgets {
  partition?: IntOrPercent;
}
export interface Partitioned extends Workload {
  spec?: Workload["spec"] & { updateStrategy?: Strategy & { rollingUpdate?: Strategy }; scaleStrategy?: { maxUnavailable?: IntOrPercent } };
}

type Copy = DeepReadonly<Partitioned>;

/** Replicas, partition and budgets go together in one copy: any of them alone would update more than was asked for, if only for a moment. */
export function dividePartition(object: Copy, shares: readonly Share[]): ReadonlyMap<string, Copy> {
  const { updateStrategy, scaleStrategy } = object.spec ?? {};
  const sizes = shares.map(({ replicas }) => replicas);
  if (!updateStrategy || countsPerCluster(object) || isDuplicated(shares, object.spec?.replicas ?? 1)) {
    return new Map(shares.map(({ cluster, replicas }) => [cluster, withSpecField(object, "replicas", replicas)]));
  }
  const partition = partitionOf(object);
  const stage = partition === undefined || partition === 0 ? undefined : stageOf(object.spec?.template, partition);
  // One cluster has the whole partition and the whole budget, and reads them by itself.
  const isAlone = shares.length < 2;
  const partitions = stage && !isAlone ? partitionsOf(sizes, splitStage(object, shares, { sizes, stage, updatedBy: updatedIn })) : undefined;
  const strategies = isAlone ? [updateStrategy] : splitStrategy(updateStrategy, sizes);
  const scaling = isAlone ? [scaleStrategy] : splitScaleStrategy(scaleStrategy, sizes);
  return new Map(
    shares.map(({ cluster, replicas }, index) => {
      const strategy = strategies[index] ?? updateStrategy;
      const spec = {
        ...object.spec,
        replicas,
        ...(scaleStrategy && { scaleStrategy: scaling[index] as typeof scaleStrategy }),
        updateStrategy: partitions ? withPartition(strategy, partitions[index]) : strategy,
      };
      return [cluster, stage ? withStage({ ...object, spec }, stage) : { ...object, spec }];
    }),
  );
}

export const partitionOf = ({ spec }: Copy): IntOrPercent | undefined => spec?.updateStrategy?.rollingUpdate?.partition ?? spec?.updateStrategy?.partition;

/** What a copy lets its member update. */
function updatedIn(copy: Copy): number {
  const replicas = copy.spec?.replicas ?? 1;
  return replicas - keptPods(partitionOf(copy), replicas);
}

function splitStrategy(strategy: NonNullable<NonNullable<Copy["spec"]>["updateStrategy"]>, sizes: readonly number[]): (typeof strategy)[] {
  const { rollingUpdate } = strategy;
  const outer = splitBudgets(strategy, sizes);
  if (!rollingUpdate) return outer;
  const inner = splitBudgets(rollingUpdate, sizes);
  return outer.map((each, index) => ({ ...each, rollingUpdate: inner[index] ?? rollingUpdate }));
}

function withPartition(strategy: NonNullable<Copy["spec"]>["updateStrategy"], partition: IntOrPercent | undefined): NonNullable<NonNullable<Copy["spec"]>["updateStrategy"]> {
  const { rollingUpdate } = strategy ?? {};
  if (partition === undefined) return { ...strategy };
  return rollingUpdate?.partition === undefined ? { ...strategy, partition } : { ...strategy, rollingUpdate: { ...rollingUpdate, partition } };
}
