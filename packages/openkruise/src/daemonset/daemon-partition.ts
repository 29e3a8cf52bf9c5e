/** Divides an Advanced DaemonSet: its partition counts nodes, and a percentage is rounded down. */
import { defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { withSpecField } from "@flotilla/kubernetes";
import type { Share, Workload } from "@flotilla/kubernetes";
import { splitBudgetsEvenly, type Budgets } from "../divide/budgets.ts";
import { splitByObserved } from "../divide/observed-partition.ts";
import { digestOf, withStage } from "../divide/release.ts";
import { rolloutOrderOf } from "../divide/rollout-order.ts";
import { countsPerCluster, stayingOf } from "../divide/counted-pods.ts";
import type { IntOrPercent } from "../divide/split-partition.ts";

export interface PartitionedDaemonSet extends Workload {
  spec?: Workload["spec"] & { updateStrategy?: { rollingUpdate?: Budgets & { partition?: IntOrPercent } } };
}

type Copy = DeepReadonly<PartitionedDaemonSet>;

export function divideDaemonPartition(object: Copy, given: readonly Share[]): ReadonlyMap<string, Copy> {
  const shares = stayingOf(given);
  const strategy = object.spec?.updateStrategy;
  const rollingUpdate = strategy?.rollingUpdate;
  if (!rollingUpdate || countsPerCluster(object)) return new Map(shares.map(({ cluster }) => [cluster, object]));
  const partition = partitionOf(object);
  const order = rolloutOrderOf(object, shares);
  const digest = digestOf(object.spec?.template);
  const parts = partition
    ? splitByObserved(shares, partition, {
        order,
        counter: "desiredNumberScheduled",
        rounding: "floor",
        digest,
        partitionOf,
      })
    : undefined;
  const budgets = splitBudgetsEvenly(rollingUpdate, shares.length);
  return new Map(
    shares.map(({ cluster }, index) => {
      const part = parts?.[index];
      const copy = withSpecField(object, "updateStrategy", {
        ...strategy,
        rollingUpdate: { ...budgets[index], ...defined({ partition: part?.partition }) },
      });
      return [cluster, partition && part ? withStage(copy, digest, partition, { updated: part.updated }) : copy];
    }),
  );
}

const partitionOf = ({ spec }: Copy): IntOrPercent | undefined => spec?.updateStrategy?.rollingUpdate?.partition;
