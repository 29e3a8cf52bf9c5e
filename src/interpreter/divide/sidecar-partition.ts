/** Divides a SidecarSet: its partition counts the pods that it matches. */
import type { KubernetesObject } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import type { Share } from "../kind-interpreter.ts";
import { withSpecField, type PodTemplateShape } from "../workload.ts";
import { splitByObserved } from "./observed-partition.ts";
import { countsPerCluster } from "./scope.ts";
import type { IntOrPercent } from "./split-partition.ts";

export interface PartitionedSidecarSet extends KubernetesObject {
  spec?: NonNullable<PodTemplateShape["spec"]> & { updateStrategy?: { partition?: IntOrPercent } };
  status?: object;
}

type Copy = DeepReadonly<PartitionedSidecarSet>;

export function divideSidecarPartition(object: Copy, shares: readonly Share[]): ReadonlyMap<string, Copy> {
  const strategy = object.spec?.updateStrategy;
  if (!strategy?.partition || countsPerCluster(object)) return new Map(shares.map(({ cluster }) => [cluster, object]));
  const partitions = splitByObserved(strategy.partition, shares, "matchedPods", "ceil");
  return new Map(shares.map(({ cluster }, index) => [cluster, withSpecField(object, "updateStrategy", { ...strategy, partition: partitions[index] })]));
}
