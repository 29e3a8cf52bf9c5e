/** Divides an Advanced DaemonSet: its partition counts nodes, and a percentage of them is rounded down. */
import type { DeepReadonly } from "../../base/index.ts";
import type { Share } from "../kind-interpreter.ts";
import { withSpecField, type Workload } from "../workload.ts";
import { splitBudgetsEvenly, type Budgets } from "./budgets.ts";
import { splitByObserved } from "./observed-partition.ts";
import { stageOf, withStage } from "./release.ts";
import { countsPerCluster } from "./scope.ts";
import type { IntOrPercent } from "./split-partition.ts";

export interface PartitionedDaemonSet extends Workload {
  spec?: Workload["spec"] & { updateStrategy?: { rollingUpdate?: Budgets & { partition?: IntOrPercent } } };
}

type Copy = DeepReadonly<PartitionedDaemonSet>;

export function divideDaemonPartition(object: Copy, shares: readonly Share[]): ReadonlyMap<string, Copy> {
  const strategy = object.spec?.updateStrategy;
  const rollingUpdate = strategy?.rollingUpdate;
  if (!rollingUpdate || countsPerCluster(object)) return new Map(shares.map(({ cluster }) => [cluster, object]));
  const partition = partitionOf(object);
  const stage = partition ? stageOf(object.spec?.template, partition) : undefined;
  const partitions = stage && splitByObserved(object, shares, stage, { counter: "desiredNumberScheduled", rounding: "floor", partitionOf });
  const budgets = splitBudgetsEvenly(rollingUpdate, shares.length);
  return new Map(
    shares.map(({ cluster }, index) => {
      const copy = withSpecField(object, "updateStrategy", { ...strategy, rollingUpdate: { ...budgets[index], ...(partitions && { partition: partitions[index] }) } });
      return [cluster, stage ? withStage(copy, stage) : copy];
    }),
  );
}

const partitionOf = ({ spec }: Copy): IntOrPercent | undefined => spec?.updateStrategy?.rollingUpdate?.partition;
