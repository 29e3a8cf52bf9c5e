/**
 * The status of a UnitedDeployment. Data that upstream's v1alpha1 has in separate maps is in the subsets' own statuses,
 * from which the conversion takes it. A deleted subset is removed from the status. Pure.
 */
import type { UnitedDeployment } from "./uniteddeployment-kind.ts";
import { equalJson, formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { formatLabelSelector, labelSelectorOf } from "@flotilla/apimachinery";
import { isActive, isReady } from "@flotilla/kubernetes";
import type { Numbers } from "./allocate.ts";
import { DEPLOYMENT_REVISION_LABEL, RESERVED_LABEL, reserves, subsetsOf } from "./uniteddeployment-names.ts";
import type { ReadonlyUnitedDeployment } from "./uniteddeployment-names.ts";
import { withSchedulable } from "./schedulable.ts";
import type { SubsetStatus } from "./schedulable.ts";
import type { Schedulability, SubsetView } from "./subset.ts";

export type UnitedDeploymentStatus = DeepReadonly<NonNullable<UnitedDeployment["status"]>>;
type Condition = NonNullable<UnitedDeploymentStatus["conditions"]>[number];

export const EMPTY_STATUS: UnitedDeploymentStatus = { replicas: 0, updatedReplicas: 0, currentRevision: "" };

/**
 * The initial subset statuses. A subset added to a deployment with the reservation strategy starts as unschedulable
 * until its pods are ready.
 */
export function initialSubsetStatuses(deployment: ReadonlyUnitedDeployment, nowMs: number): Map<string, SubsetStatus> {
  const known = new Map((deployment.status?.subsetStatuses ?? []).toReversed().map((status) => [status.name, status]));
  const isLater = known.size > 0 && reserves(deployment);
  return new Map(
    subsetsOf(deployment).map(({ name }) => {
      const made: SubsetStatus = { name };
      return [
        name,
        known.get(name) ??
          (isLater
            ? withSchedulable(made, false, "created", "newly-created subsets in reservation strategy", nowMs)
            : made),
      ];
    }),
  );
}

/** The conditions with the current `UnitedDeploymentUpdated`; its time is the start of an update. */
export function withUpdated(
  conditions: readonly Condition[],
  isUpdated: boolean,
  revision: string,
  nowMs: number,
): readonly Condition[] {
  const type = "UnitedDeploymentUpdated";
  const status = isUpdated ? "True" : "False";
  const [reason, message] = isUpdated
    ? ["UnitedDeploymentRevisionUpdated", `updated to revision ${revision}`]
    : ["UnitedDeploymentRevisionUpdating", `updating to revision ${revision}`];
  const known = conditions.find((condition) => condition.type === type);
  // An update that completed before it was reported still changes the revision; one that continues to another revision
  // keeps its start time.
  if (known?.status === status && (known.message === message || !isUpdated)) return conditions;
  return [
    ...conditions.filter((condition) => condition.type !== type),
    { type, status, lastTransitionTime: formatTime(nowMs), reason, message },
  ];
}

function withTrue(conditions: readonly Condition[], type: string, nowMs: number): readonly Condition[] {
  if (conditions.find((condition) => condition.type === type)?.status === "True") return conditions;
  return [
    ...conditions.filter((condition) => condition.type !== type),
    { type, status: "True", lastTransitionTime: formatTime(nowMs) },
  ];
}

/** The names of the revisions that pods have, and are updated to. */
export interface RevisionNames {
  current: string;
  updated: string;
}

export interface StatusInput {
  /** With the current conditions. */
  deployment: ReadonlyUnitedDeployment;
  subsets: ReadonlyMap<string, SubsetView & { schedulability: Schedulability }>;
  subsetStatuses: ReadonlyMap<string, SubsetStatus>;
  replicas: Numbers;
  partitions: Numbers;
  revisions: RevisionNames & { collisionCount: number };
  /** Nothing is left to create, delete or change. */
  isSettled: boolean;
  nowMs: number;
}

export function planStatus(input: StatusInput): UnitedDeploymentStatus {
  const { deployment, subsets, revisions, nowMs } = input;
  const counts = { replicas: 0, readyReplicas: 0, reservedPods: 0, updatedReplicas: 0, updatedReadyReplicas: 0 };
  for (const { replicas: reported, readyReplicas, schedulability, pods } of subsets.values()) {
    const updated = pods.filter(
      (pod) => isActive(pod) && (pod.metadata.labels?.[DEPLOYMENT_REVISION_LABEL] ?? "") === revisions.updated,
    );
    counts.replicas += reported - schedulability.reservedPods;
    counts.readyReplicas += readyReplicas;
    counts.reservedPods += schedulability.reservedPods;
    counts.updatedReplicas += updated.length;
    counts.updatedReadyReplicas += updated.filter(isReady).length;
  }
  const before = deployment.status?.currentRevision || revisions.current;
  const currentRevision = counts.updatedReadyReplicas >= counts.replicas ? revisions.updated : before;
  const conditions = deployment.status?.conditions ?? [];
  const settled = input.isSettled
    ? withTrue(withTrue(conditions, "SubsetProvisioned", nowMs), "SubsetUpdated", nowMs)
    : conditions;
  return {
    ...orNothing("observedGeneration", deployment.metadata.generation),
    ...orNothing("readyReplicas", counts.readyReplicas),
    replicas: counts.replicas,
    updatedReplicas: counts.updatedReplicas,
    ...orNothing("reservedPods", counts.reservedPods),
    ...orNothing("updatedReadyReplicas", counts.updatedReadyReplicas),
    ...orNothing("collisionCount", revisions.collisionCount),
    currentRevision,
    updatedRevision: revisions.updated,
    subsetStatuses: Array.from(input.subsetStatuses.values(), (status) =>
      subsetStatus(status, subsets.get(status.name ?? ""), input.replicas, input.partitions),
    ),
    // Once all subsets have a revision it becomes the current one, and the condition is updated with it.
    conditions: withUpdated(settled, currentRevision === revisions.updated, revisions.updated, nowMs),
    labelSelector: labelSelectorText(deployment),
  };
}

/** Whether a finding about a subset is not stored yet: the conditions that determine where pods are placed. */
export function changesPlacement(status: UnitedDeploymentStatus, stored: UnitedDeploymentStatus | undefined): boolean {
  return !equalJson(placementPart(status), placementPart(stored));
}

function placementPart(status: UnitedDeploymentStatus | undefined): unknown {
  return {
    subsets: status?.subsetStatuses?.map(({ name, conditions }) => ({ name, conditions })) ?? [],
    updated: status?.conditions?.find(({ type }) => type === "UnitedDeploymentUpdated"),
  };
}

function subsetStatus(
  { name = "", conditions }: SubsetStatus,
  subset: (SubsetView & { schedulability: Schedulability }) | undefined,
  replicas: Numbers,
  partitions: Numbers,
): SubsetStatus {
  return {
    name,
    ...orNothing("replicas", replicas.get(name)),
    ...orNothing("readyReplicas", subset?.readyReplicas),
    ...orNothing("partition", partitions.get(name)),
    ...orNothing("reservedPods", subset?.schedulability.reservedPods),
    conditions,
  };
}

/** Used by autoscalers; excludes reserved pods. */
function labelSelectorText(deployment: ReadonlyUnitedDeployment): string {
  return `${formatLabelSelector(labelSelectorOf(deployment.spec.selector))}${reserves(deployment) ? `,${RESERVED_LABEL}=false` : ""}`;
}

/** Go omits zeros. */
const orNothing = <K extends string>(name: K, value: number | undefined): { [name in K]?: number } =>
  value ? ({ [name]: value } as { [name in K]: number }) : {};
