/** Which workloads of a UnitedDeployment are missing, surplus, or outdated. Pure. */
import { compareText } from "@flotilla/base";
import { isActive, isReady } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { Numbers } from "./allocate.ts";
import { DEPLOYMENT_REVISION_LABEL, PATCH_ANNOTATION, reserves, subsetsOf } from "./uniteddeployment-names.ts";
import type { ReadonlyUnitedDeployment } from "./uniteddeployment-names.ts";
import type { Schedulability, SubsetView } from "./subset.ts";
import { maxUnavailableOf, withMaxUnavailable } from "./subset-kinds.ts";
import type { ReadonlyWorkload, SubsetKind, SubsetTemplate } from "./subset-kinds.ts";
import { changedWorkload, patchText } from "./workload.ts";

export interface ExistingSubset extends SubsetView {
  workload: ReadonlyWorkload;
  /** The workload's revision of the UnitedDeployment. */
  revision: string;
  /** Unset if a partition has no effect. */
  partition?: number;
  schedulability?: Schedulability;
}

export interface SubsetChanges {
  /** Names of subsets without a workload. */
  create: readonly string[];
  /** Workloads of subsets that the topology does not have. */
  remove: readonly ReadonlyWorkload[];
  /** Workloads of kinds that the template does not have. */
  removeOtherKinds: readonly { kind: SubsetKind; workload: ReadonlyWorkload }[];
  update: readonly SubsetChange[];
}

export function planChanges(input: UpdateInput, removeOtherKinds: SubsetChanges["removeOtherKinds"]): SubsetChanges {
  const { create, remove } = planProvision(input.deployment, [...input.subsets.keys()]);
  return {
    create,
    remove: remove.flatMap((name) => input.subsets.get(name)?.workload ?? []),
    removeOtherKinds,
    update: planUpdates(input),
  };
}

/** Nothing is left to create, delete or change. Pods that block an update do not count: the workload has its spec. */
export const isSettled = ({ create, remove, removeOtherKinds, update }: SubsetChanges): boolean =>
  create.length + remove.length + removeOtherKinds.length === 0 && update.every(({ changed }) => !changed);

/** Subset names, in order. */
export function planProvision(
  deployment: ReadonlyUnitedDeployment,
  existing: readonly string[],
): { create: string[]; remove: string[] } {
  const wanted = new Set(subsetsOf(deployment).map(({ name }) => name));
  const there = new Set(existing);
  return {
    create: [...wanted.difference(there)].toSorted(compareText),
    remove: [...there.difference(wanted)].toSorted(compareText),
  };
}

export interface SubsetChange {
  /** The desired workload; unset if it is unchanged. */
  changed?: ReadonlyWorkload;
  /** Pods that block the update. */
  stuck: readonly ReadonlyPod[];
}

export interface UpdateInput {
  deployment: ReadonlyUnitedDeployment;
  template: SubsetTemplate;
  subsets: ReadonlyMap<string, ExistingSubset>;
  replicas: Numbers;
  partitions: Numbers;
  revision: string;
}

export function planUpdates(input: UpdateInput): SubsetChange[] {
  return subsetsOf(input.deployment).flatMap((definition) => {
    const subset = input.subsets.get(definition.name);
    if (!subset) return [];
    const change = planUpdate(input, subset, patchText(definition));
    return change.changed || change.stuck.length > 0 ? [change] : [];
  });
}

function planUpdate(input: UpdateInput, subset: ExistingSubset, patch: string): SubsetChange {
  const { deployment, template, replicas, partitions, revision } = input;
  const { name, workload, pods } = subset;
  const demand = { name, revision, replicas: replicas.get(name) ?? 0, partition: partitions.get(name) ?? 0 };
  const isRight =
    subset.revision === revision &&
    subset.specReplicas === demand.replicas &&
    (subset.partition ?? demand.partition) === demand.partition &&
    (workload.metadata.annotations?.[PATCH_ANNOTATION] ?? "") === patch;
  const isUpdating = pods.filter((pod) => isActive(pod) && revisionOf(pod) === revision).length < subset.replicas;
  if (isRight && !isUpdating) return { stuck: [] };
  const stuck =
    template.kind.type === "StatefulSet" && template.kind.hasPartition(template.spec)
      ? pods.filter((pod) => isStuck(pod, revision, demand.partition))
      : [];
  const wanted = withRoomForUpdate(
    deployment,
    template,
    subset,
    changedWorkload(workload, deployment, template, demand),
  );
  return !isRight || (reserves(deployment) && hasOtherRoom(template, workload, wanted))
    ? { changed: wanted, stuck }
    : { stuck };
}

/** Reserved pods and pods with a slow update would use up maxUnavailable, and the update would never progress. */
function withRoomForUpdate(
  deployment: ReadonlyUnitedDeployment,
  { kind }: SubsetTemplate,
  { schedulability, specReplicas, readyReplicas }: ExistingSubset,
  workload: ReadonlyWorkload,
): ReadonlyWorkload {
  if (!schedulability?.unschedulable || !reserves(deployment)) return workload;
  return withMaxUnavailable(kind, workload, specReplicas - readyReplicas + schedulability.updateTimeoutPods);
}

/** If the template sets none, the workload has its kind's default, which is a percentage. */
function hasOtherRoom({ kind }: SubsetTemplate, stored: ReadonlyWorkload, wanted: ReadonlyWorkload): boolean {
  const [has, wants] = [maxUnavailableOf(kind, stored), maxUnavailableOf(kind, wanted)];
  return wants === undefined ? typeof has === "number" : has !== wants;
}

/**
 * A pod that the update of a StatefulSet would wait for although it never becomes ready (kubernetes/kubernetes#67250).
 */
function isStuck(pod: ReadonlyPod, revision: string, partition: number): boolean {
  const ordinal = Number(/-(\d+)$/.exec(pod.metadata.name)?.[1] ?? -1);
  return ordinal >= partition && revisionOf(pod) !== revision && !isReady(pod) && !pod.metadata.deletionTimestamp;
}

const revisionOf = ({ metadata }: ReadonlyPod): string => metadata.labels?.[DEPLOYMENT_REVISION_LABEL] ?? "";
