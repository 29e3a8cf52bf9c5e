/**
 * Runs UnitedDeployments on recorded inputs and returns results in the format of the recordings
 * (`openkruise-uniteddeployment.jsonl`). Only for tests and `npm run golden`.
 */
import { CloneSet } from "../../cloneset/cloneset-kind.ts";
import { UnitedDeployment } from "../uniteddeployment-kind.ts";
import { subsetReplicas } from "../subset-rules.ts";
import type { Pod } from "@flotilla/kubernetes";
import { required, defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { allocatePartitions, allocateReplicas } from "../allocate.ts";
import type { SizedSubset } from "../allocate.ts";
import { afterAllocation, findReserved, findSchedulability } from "../schedulable.ts";
import type { SubsetStatus } from "../schedulable.ts";
import { SCHEDULABLE } from "../subset.ts";
import type { Schedulability, SubsetView } from "../subset.ts";
import { templateOf } from "../subset-kinds.ts";
import { makeSubsetWorkload } from "../workload.ts";
import { RECORDED_AT } from "../../testdata/read-cases.ts";
import type { RecordedRun } from "../../testdata/read-cases.ts";

type AlphaDeployment = JsonObject & { status?: { subsetStatuses?: SubsetStatus[] } };

interface Input {
  unitedDeployment: AlphaDeployment;
}
interface RecordedSubset extends Partial<SizedSubset>, Partial<Schedulability> {
  name: string;
  pods?: Pod[];
  updatedRevision?: string;
}

/** The release uses v1alpha1; here everything is v1beta1. */
export function unitedDeploymentFromAlpha(alpha: JsonObject): UnitedDeployment {
  return required(UnitedDeployment.versions["v1alpha1"]?.toStorage, "a conversion")({ apiVersion: "apps.kruise.io/v1alpha1", kind: "UnitedDeployment", ...alpha }) as unknown as UnitedDeployment;
}

const viewOf = ({ name, specReplicas = 0, replicas = 0, readyReplicas = 0, pods = [], updatedRevision = "" }: RecordedSubset): SubsetView => ({ name, specReplicas, replicas, readyReplicas, pods, updatedRevision });
const seconds = (ms = 0): number => ms / 1000;
const statusBefore = ({ status }: AlphaDeployment): SubsetStatus => required(status?.subsetStatuses?.[0], "the status of the subset");

function sizedOf({ unschedulable = false, markedAsUnschedulable = false, reservedPods = 0, ...subset }: RecordedSubset): SizedSubset {
  return { ...viewOf(subset), schedulability: { ...SCHEDULABLE, unschedulable, markedAsUnschedulable, reservedPods } };
}

export const unitedDeploymentCases: Readonly<Record<string, RecordedRun>> = {
  parse({ replicas, value }: { replicas: number; value: number | string }) {
    const result = subsetReplicas(replicas, value);
    return "problem" in result ? { error: result.problem } : result;
  },

  allocate({ unitedDeployment, existingSubsets }: Input & { existingSubsets?: RecordedSubset[] | null }) {
    const deployment = unitedDeploymentFromAlpha(unitedDeployment);
    const allocation = allocateReplicas(deployment, new Map((existingSubsets ?? []).map((subset) => [subset.name, sizedOf(subset)])));
    if ("problem" in allocation) return { error: allocation.problem };
    return { replicas: Object.fromEntries(allocation.replicas), partitions: Object.fromEntries(allocatePartitions(deployment, allocation.replicas)) };
  },

  adaptiveStatus({ unitedDeployment, subset }: Input & { subset: RecordedSubset }) {
    const { schedulability, status, againInMs } = findSchedulability(unitedDeploymentFromAlpha(unitedDeployment), viewOf(subset), statusBefore(unitedDeployment), RECORDED_AT);
    return { unschedulable: schedulability.unschedulable, pendingPods: schedulability.pendingPods, conditions: status.conditions ?? null, requeueAfterSeconds: seconds(againInMs) };
  },

  reservedStatus({ unitedDeployment, subset, nextSubsetReplicas = 0 }: Input & { subset: RecordedSubset; nextSubsetReplicas?: number }) {
    const finding = findReserved(unitedDeploymentFromAlpha(unitedDeployment), viewOf(subset), statusBefore(unitedDeployment), RECORDED_AT);
    const { unschedulable, markedAsUnschedulable, reservedPods, updateTimeoutPods } = finding.schedulability;
    return {
      unschedulable,
      markedAsUnschedulable,
      reservedPods,
      updateTimeoutPods,
      podLabels: Object.fromEntries(finding.relabel.map(({ pod, reserved }) => [pod.metadata.name, reserved])),
      conditions: afterAllocation(finding, viewOf(subset), nextSubsetReplicas, RECORDED_AT).conditions ?? null,
      requeueAfterSeconds: seconds(finding.againInMs),
    };
  },

  subsetWorkload({ unitedDeployment, subsetName: name, revision, replicas = 0, partition = 0 }: Input & { subsetName: string; revision: string; replicas?: number; partition?: number }, want: { object?: JsonObject }) {
    const deployment = { ...unitedDeploymentFromAlpha(unitedDeployment), apiVersion: "apps.kruise.io/v1alpha1" };
    const template = required(templateOf(deployment), "a template");
    // Only subsets of the topology are ever requested.
    if (!deployment.spec.topology?.subsets?.some((subset) => subset.name === name)) return { error: `fail to find subset config ${name}` };
    const workload = makeSubsetWorkload(deployment, template, { name, revision, replicas, partition }) as unknown as JsonObject;
    const recorded = template.kind.type === "CloneSet" ? required(CloneSet.versions["v1alpha1"]?.fromStorage, "a conversion")(workload) : workload;
    // Go serializes this struct even if it is empty.
    const always = template.kind.type === "AdvancedStatefulSet" && { volumeClaimUpdateStrategy: {} };
    return { object: { metadata: recorded["metadata"], spec: { ...withoutEmpty(recorded["spec"] as JsonObject), ...always }, status: want.object?.["status"] !== undefined ? want.object["status"] : undefined } };
  },
};

/** The recording omits empty structs. */
const withoutEmpty = ({ scaleStrategy, strategy, ...spec }: JsonObject): JsonObject => ({ ...spec, ...defined({ scaleStrategy: Object.keys((scaleStrategy ?? {}) as object).length > 0 ? scaleStrategy : undefined, strategy: Object.keys((strategy ?? {}) as object).length > 0 ? strategy : undefined }) });
