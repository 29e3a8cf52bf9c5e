/** Divides an Advanced DaemonSet: its partition counts nodes, and a percentage of them is rounded down. */
import type { DeepReadonly } from "../../base/index.ts";
import type { Share } from "../kind-interpreter.ts";
import { withSpecField, type Workload } from "../workload.ts";
import { splitByObserved } from "./observed-partition.ts";
import { countsPerCluster } from "./scope.ts";
import type { IntOrPercent } from "./split-partition.ts";

export interface PartitionedDaemonSet extends Workload {
  spec?: Workload["spec"] & { updateStrategy?: { rollingUpdate?: { partition?: IntOrPercent } } };
}

type Copy = DeepReadonly<PartitionedDaemonSet>;

export function divideDaemonPartition(object: Copy, shares: readonly Share[]): ReadonlyMap<string, Copy> {
  const strategy = object.spec?.updateStrategy;
  const partition = strategy?.rollingUpdate?.partition;
  if (!partition || countsPerCluster(object)) return new Map(shares.map(({ cluster }) => [cluster, object]));
  const partitions = splitByObserved(partition, shares, "desiredNumberScheduled", "floor");
  return new Map(shares.map(({ cluster }, index) => [cluster, withSpecField(object, "updateStrategy", { ...strategy, rollingUpdate: { ...strategy?.rollingUpdate, partition: partitions[index] } })]));
}
