/**
 * Locates the partition of a workload such as CloneSet: in `spec.updateStrategy`, and from v1beta1 on in its
 * `rollingUpdate`.
 */
import type { LabelSelectorObject } from "@flotilla/apimachinery";
import { defined, type DeepReadonly } from "@flotilla/base";
import { shortHash, TEMPLATE_HASH_LABEL, type ReleaseLimits, type Workload } from "@flotilla/kubernetes";
import type { Budgets } from "./budgets.ts";
import type { IntOrPercent } from "./split-partition.ts";

interface Strategy extends Budgets {
  partition?: IntOrPercent;
  priorityStrategy?: { weightPriority?: { weight: number; matchSelector: LabelSelectorObject }[] };
  scatterStrategy?: unknown;
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
  return withRolling(strategy, { partition }, apiVersion);
}

/**
 * Makes pods of one revision the first that are changed. While they are rolled back, the order of the template does not
 * apply: a priority or a scatter strategy of the user could choose others.
 */
export function choosing(strategy: UpdateStrategy | undefined, revision: string, apiVersion: string): UpdateStrategy {
  const matchSelector = { matchLabels: { [TEMPLATE_HASH_LABEL]: shortHash(revision) } };
  return withRolling(
    strategy,
    { priorityStrategy: { weightPriority: [{ weight: 100, matchSelector }] }, scatterStrategy: undefined },
    apiVersion,
  );
}

/** The fields that limit an update have the place of the partition. */
export function limitUpdates(
  object: DeepReadonly<Partitioned>,
  { partition, maxUnavailable, isPaused }: ReleaseLimits,
): DeepReadonly<Partitioned> {
  const { apiVersion, spec } = object;
  const limits = defined({ maxUnavailable, paused: isPaused || undefined });
  const strategy = withRolling(spec?.updateStrategy, limits, apiVersion);
  const updateStrategy = partition === undefined ? strategy : withPartition(strategy, partition, apiVersion);
  return { ...object, spec: { ...spec, updateStrategy } };
}

function withRolling(strategy: UpdateStrategy | undefined, fields: Strategy, apiVersion: string): UpdateStrategy {
  const isFlat = apiVersion.endsWith("/v1alpha1");
  const replaced = (before: UpdateStrategy | undefined): UpdateStrategy => defined({ ...before, ...fields });
  return isFlat ? replaced(strategy) : { ...strategy, rollingUpdate: replaced(strategy?.rollingUpdate) };
}
