/**
 * Locates the partition of a workload such as CloneSet: in `spec.updateStrategy`, and from v1beta1 on in its
 * `rollingUpdate`.
 */
import type { DeepReadonly } from "@flotilla/base";
import type { Workload } from "@flotilla/kubernetes";
import type { Budgets } from "./budgets.ts";
import type { IntOrPercent } from "./split-partition.ts";

interface Strategy extends Budgets {
  partition?: IntOrPercent;
}
export interface Partitioned extends Workload {
  spec?: Workload["spec"] & {
    updateStrategy?: Strategy & { rollingUpdate?: Strategy };
    scaleStrategy?: { maxUnavailable?: IntOrPercent };
  };
}
export type UpdateStrategy = NonNullable<NonNullable<DeepReadonly<Partitioned>["spec"]>["updateStrategy"]>;

export const partitionOf = ({ spec }: DeepReadonly<Partitioned>): IntOrPercent | undefined =>
  spec?.updateStrategy?.rollingUpdate?.partition ?? spec?.updateStrategy?.partition;

export function withPartition(
  strategy: UpdateStrategy | undefined,
  partition: IntOrPercent,
  apiVersion: string,
): UpdateStrategy {
  const isFlat = apiVersion.endsWith("/v1alpha1");
  return isFlat
    ? { ...strategy, partition }
    : { ...strategy, rollingUpdate: { ...strategy?.rollingUpdate, partition } };
}
