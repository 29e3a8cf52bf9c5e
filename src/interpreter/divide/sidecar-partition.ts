/** Divides a SidecarSet: its partition counts the pods that it matches. */
import type { KubernetesObject } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { Share } from "../kind-interpreter.ts";
import { withSpecField, type PodTemplateShape } from "../workload.ts";
import { splitBudgetsEvenly, type Budgets } from "./budgets.ts";
import { splitByObserved } from "./observed-partition.ts";
import { stageOf, withStage } from "./release.ts";
import { countsPerCluster } from "./scope.ts";
import type { IntOrPercent } from "./split-partition.ts";

export interface PartitionedSidecarSet extends KubernetesObject {
  spec?: NonNullable<PodTemplateShape["spec"]> & { updateStrategy?: Budgets & { partition?: IntOrPercent } };
  status?: object;
}

type Copy = DeepReadonly<PartitionedSidecarSet>;

export function divideSidecarPartition(object: Copy, shares: readonly Share[]): ReadonlyMap<string, Copy> {
  const strategy = object.spec?.updateStrategy;
  if (!strategy || countsPerCluster(object)) return new Map(shares.map(({ cluster }) => [cluster, object]));
  const { updateStrategy: _strategy, ...release } = object.spec ?? {};
  const stage = strategy.partition ? stageOf(release, strategy.partition) : undefined;
  const partitions = stage && splitByObserved(object, shares, stage, { counter: "matchedPods", rounding: "ceil", partitionOf });
  const budgets = splitBudgetsEvenly(strategy, shares.length);
  return new Map(
    shares.map(({ cluster }, index) => {
      const copy = withSpecField(object, "updateStrategy", { ...budgets[index], ...(partitions && { partition: partitions[index] }) });
      return [cluster, stage ? withStage(copy, stage) : copy];
    }),
  );
}

const partitionOf = ({ spec }: Copy): IntOrPercent | undefined => spec?.updateStrategy?.partition;
