/** Divides a SidecarSet: its partition counts the pods that it matches. */
import { defined } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { withSpecField } from "@flotilla/kubernetes";
import type { PodTemplateShape, Share } from "@flotilla/kubernetes";
import { splitBudgetsEvenly, type Budgets } from "../divide/budgets.ts";
import { splitByObserved } from "../divide/observed-partition.ts";
import { digestOf, withStage } from "../divide/release.ts";
import { rolloutOrderOf } from "../divide/rollout-order.ts";
import { countsPerCluster, stayingOf } from "../divide/counted-pods.ts";
import type { IntOrPercent } from "../divide/split-partition.ts";

export interface PartitionedSidecarSet extends KubernetesObject {
  spec?: NonNullable<PodTemplateShape["spec"]> & { updateStrategy?: Budgets & { partition?: IntOrPercent } };
  status?: object;
}

type Copy = DeepReadonly<PartitionedSidecarSet>;

export function divideSidecarPartition(object: Copy, given: readonly Share[]): ReadonlyMap<string, Copy> {
  const shares = stayingOf(given);
  const strategy = object.spec?.updateStrategy;
  if (!strategy || countsPerCluster(object)) return new Map(shares.map(({ cluster }) => [cluster, object]));
  const { partition } = strategy;
  const { updateStrategy: _strategy, ...release } = object.spec ?? {};
  const order = rolloutOrderOf(object, shares);
  const digest = digestOf(release);
  const parts = partition
    ? splitByObserved(shares, partition, { order, counter: "matchedPods", rounding: "ceil", digest, partitionOf })
    : undefined;
  const budgets = splitBudgetsEvenly(strategy, shares.length);
  return new Map(
    shares.map(({ cluster }, index) => {
      const part = parts?.[index];
      const copy = withSpecField(object, "updateStrategy", {
        ...budgets[index],
        ...defined({ partition: part?.partition }),
      });
      return [cluster, partition && part ? withStage(copy, digest, partition, { updated: part.updated }) : copy];
    }),
  );
}

const partitionOf = ({ spec }: Copy): IntOrPercent | undefined => spec?.updateStrategy?.partition;
