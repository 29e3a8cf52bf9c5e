/**
 * OpenKruise UnitedDeployment: one workload over several subsets. The pod template sits inside the template of the workload
 * that each subset runs; a bare one, as some manuals show it, is understood as well.
 */
import { isObject, type DeepReadonly, type JsonObject } from "../../../base/index.ts";
import { divideSubsets, type SubsetWorkload } from "../../divide/subsets.ts";
import type { KindInterpreter, StatusItem } from "../../kind-interpreter.ts";
import { podDependencies } from "../../pod-dependencies.ts";
import { countOf, reportedStatuses } from "../../replica-status.ts";
import { templateReplicas, withSpecField, type PodTemplateShape } from "../../workload.ts";
import { aggregateFields, mergeConditions, reflectFields } from "../counters.ts";
import { hasReachedStage, sumReported } from "./rollout-health.ts";

const FIELDS = { counters: ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"], texts: ["currentRevision", "updatedRevision"] };
/** What the kind really reports beside Karmada's idea of it. */
const OWN_COUNTERS = ["updatedReadyReplicas", "reservedPods"];
const WORKLOAD_TEMPLATES = ["statefulSetTemplate", "advancedStatefulSetTemplate", "cloneSetTemplate", "deploymentTemplate"] as const;

export const unitedDeploymentInterpreter: KindInterpreter<SubsetWorkload> = {
  group: "apps.kruise.io",
  kind: "UnitedDeployment",
  replicas: (united) => templateReplicas(united.spec?.replicas ?? 1, podTemplateOf(united)),
  reviseReplicas: (united, replicas) => withSpecField(united, "replicas", replicas),
  divide: divideSubsets,
  reflectStatus: (united) => reflectFields(united, [...FIELDS.counters, ...OWN_COUNTERS, ...FIELDS.texts, "subsetReplicas", "conditions"]),
  aggregateStatus(united, items) {
    const conditions = mergeConditions(items);
    const subsetReplicas = sumSubsets(items);
    return aggregateFields(united, items, FIELDS, { ...sumReported(united, items, OWN_COUNTERS), ...(subsetReplicas && { subsetReplicas }), ...(conditions.length > 0 && { conditions }) });
  },
  /** The kind counts ready pods and none that are available, so those stand in. */
  isHealthy(united) {
    if (!isObject(united.status)) return false;
    const { readyReplicas = 0, availableReplicas = readyReplicas } = united.status;
    return hasReachedStage({ ...united, status: { ...united.status, availableReplicas } }, keptOf(united));
  },
  dependencies: (united) => podDependencies(podTemplateOf(united), united.metadata.namespace),
};

function podTemplateOf({ spec }: DeepReadonly<SubsetWorkload>): DeepReadonly<PodTemplateShape> | undefined {
  const template = spec?.template;
  const nested = WORKLOAD_TEMPLATES.map((name) => template?.[name]?.spec?.template).find((found) => found !== undefined);
  return nested ?? template;
}

/** Pods that the partitions keep back; a subset keeps no more than it has. */
function keptOf({ spec, status }: DeepReadonly<SubsetWorkload>): number {
  const partitions = spec?.updateStrategy?.manualUpdate?.partitions ?? {};
  const sizes = isObject(status) && isObject(status["subsetReplicas"]) ? status["subsetReplicas"] : {};
  return Object.entries(partitions).reduce((sum, [name, count]) => sum + Math.max(0, Math.min(count, Object.hasOwn(sizes, name) ? countOf(sizes[name]) : count)), 0);
}

/** The pods of each subset over all members; undefined where no member tells. */
function sumSubsets(items: readonly StatusItem[]): JsonObject | undefined {
  const sums = new Map<string, number>();
  for (const { subsetReplicas } of reportedStatuses(items)) {
    if (!isObject(subsetReplicas)) continue;
    for (const [name, count] of Object.entries(subsetReplicas)) sums.set(name, (sums.get(name) ?? 0) + countOf(count));
  }
  return sums.size > 0 ? Object.fromEntries(sums) : undefined;
}
