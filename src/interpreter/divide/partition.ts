/**
 * Divides a workload with replicas and a partition, such as CloneSet. The partition is in `spec.updateStrategy`, and from
 * v1beta1 on in its `rollingUpdate`.
 */
import type { DeepReadonly } from "../../base/index.ts";
import type { Share } from "../kind-interpreter.ts";
import { withSpecField, type Workload } from "../workload.ts";
import { countsPerCluster, isDuplicated } from "./scope.ts";
import { splitPartition, type IntOrPercent } from "./split-partition.ts";

export interface Partitioned extends Workload {
  spec?: Workload["spec"] & { updateStrategy?: { partition?: IntOrPercent; rollingUpdate?: { partition?: IntOrPercent } } };
}

type Copy = DeepReadonly<Partitioned>;

/** Replicas and partition go together in one copy: either alone would update more than was asked for, if only for a moment. */
export function dividePartition(object: Copy, shares: readonly Share[]): ReadonlyMap<string, Copy> {
  const strategy = object.spec?.updateStrategy;
  const partition = partitionOf(object);
  const whole = partition === undefined || partition === 0 || countsPerCluster(object) || isDuplicated(shares, object.spec?.replicas ?? 1);
  const partitions = whole ? [] : splitPartition(partition, shares.map(({ replicas }) => replicas));
  return new Map(
    shares.map(({ cluster, replicas }, index) => {
      const copy = withSpecField(object, "replicas", replicas);
      return [cluster, whole ? copy : withSpecField(copy, "updateStrategy", withPartition(strategy, partitions[index]))];
    }),
  );
}

export const partitionOf = ({ spec }: Copy): IntOrPercent | undefined => spec?.updateStrategy?.rollingUpdate?.partition ?? spec?.updateStrategy?.partition;

function withPartition(strategy: NonNullable<Copy["spec"]>["updateStrategy"], partition: IntOrPercent | undefined): object {
  const { rollingUpdate } = strategy ?? {};
  return rollingUpdate?.partition === undefined ? { ...strategy, partition } : { ...strategy, rollingUpdate: { ...rollingUpdate, partition } };
}
