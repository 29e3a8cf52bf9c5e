/**
 * OpenKruise UnitedDeployment: one workload over several subsets. The pod template is nested in the template of each
 * subset's workload; a bare pod template, as in some manuals, is accepted as well.
 */
import { isObject, type DeepReadonly, type JsonObject, defined, omitEmpty, textOf } from "@flotilla/base";
import { divideSubsets, type SubsetWorkload } from "./divide-subsets.ts";
import {
  aggregateFields,
  countOf,
  mergeConditions,
  podDependencies,
  reflectFields,
  reportedStatuses,
  templateReplicas,
  withSpecField,
  withStatus,
} from "@flotilla/kubernetes";
import type { KindInterpreter, PodTemplateShape, StatusItem } from "@flotilla/kubernetes";
import { hasReachedStage, sumReported } from "../interpreter/rollout-health.ts";

const FIELDS = {
  counters: ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"],
  texts: ["currentRevision", "updatedRevision"],
};
/** Counters that the kind reports in addition to those Karmada knows. */
const OWN_COUNTERS = ["updatedReadyReplicas", "reservedPods"];
const SUBSET_COUNTERS = ["replicas", "readyReplicas", "partition", "reservedPods"];
const WORKLOAD_TEMPLATES = [
  "statefulSetTemplate",
  "advancedStatefulSetTemplate",
  "cloneSetTemplate",
  "deploymentTemplate",
] as const;

export const unitedDeploymentInterpreter: KindInterpreter<SubsetWorkload> = {
  group: "apps.kruise.io",
  kind: "UnitedDeployment",
  replicas: (united) => templateReplicas(united.spec?.replicas ?? 1, podTemplateOf(united)),
  reviseReplicas: (united, replicas) => withSpecField(united, "replicas", replicas),
  divide: divideSubsets,
  // Its subsets are updated together.
  release: { takesDown: () => "all" },
  keepsUpdated: ["template"],
  reflectStatus: (united) =>
    reflectFields(united, [
      ...FIELDS.counters,
      ...OWN_COUNTERS,
      ...FIELDS.texts,
      "subsetReplicas",
      "subsetStatuses",
      "conditions",
    ]),
  aggregateStatus(united, items) {
    const conditions = mergeConditions(items);
    const more = {
      ...sumReported(united, items, OWN_COUNTERS),
      ...sumSubsets(items),
      ...omitEmpty({ conditions }),
    };
    const { status } = aggregateFields(united, items, FIELDS, more);
    // Some of Karmada's counters are not fields of the kind: the server drops their zeros, and adding them again
    // changes nothing.
    return isObject(status) ? withStatus(united, status) : united;
  },
  /** The kind counts ready pods but not available pods, so ready pods are used. */
  isHealthy(united) {
    if (!isObject(united.status)) return false;
    const { readyReplicas = 0, availableReplicas = readyReplicas } = united.status;
    return hasReachedStage({ ...united, status: { ...united.status, availableReplicas } }, keptOf(united));
  },
  dependencies: (united) => podDependencies(podTemplateOf(united), united.metadata.namespace),
};

function podTemplateOf({ spec }: DeepReadonly<SubsetWorkload>): DeepReadonly<PodTemplateShape> | undefined {
  const template = spec?.template;
  const nested = WORKLOAD_TEMPLATES.map((name) => template?.[name]?.spec?.template).find(
    (found) => found !== undefined,
  );
  return nested ?? template;
}

/** Pods that the partitions keep back; a subset keeps at most its own pods. */
function keptOf({ spec, status }: DeepReadonly<SubsetWorkload>): number {
  const sizes = isObject(status) ? subsetSizes(status) : new Map<string, number>();
  const partitions = Object.entries(spec?.updateStrategy?.manualUpdate?.partitions ?? {});
  return partitions.reduce((sum, [name, count]) => sum + Math.max(0, Math.min(count, sizes.get(name) ?? count)), 0);
}

/** The pods of each subset: v1alpha1 has them in a separate map, v1beta1 in the subset statuses. */
function subsetSizes({ subsetReplicas, subsetStatuses }: JsonObject): Map<string, number> {
  if (isObject(subsetReplicas))
    return new Map(Object.entries(subsetReplicas).map(([name, count]) => [name, countOf(count)]));
  return new Map(
    Array.isArray(subsetStatuses)
      ? subsetStatuses.filter(isObject).map(({ name, replicas }) => [textOf(name), countOf(replicas)])
      : [],
  );
}

/** The subsets summed over all members, in the fields that members report. */
function sumSubsets(items: readonly StatusItem[]): JsonObject {
  const replicas = new Map<string, number>();
  const statuses = new Map<string, Record<string, number>>();
  for (const { subsetReplicas, subsetStatuses } of reportedStatuses(items)) {
    for (const [name, count] of isObject(subsetReplicas) ? Object.entries(subsetReplicas) : [])
      replicas.set(name, (replicas.get(name) ?? 0) + countOf(count));
    for (const status of Array.isArray(subsetStatuses) ? subsetStatuses.filter(isObject) : []) {
      const sums = statuses.get(textOf(status["name"])) ?? {};
      for (const field of SUBSET_COUNTERS)
        if (status[field] !== undefined) sums[field] = (sums[field] ?? 0) + countOf(status[field]);
      statuses.set(textOf(status["name"]), sums);
    }
  }
  return defined({
    subsetReplicas: replicas.size > 0 ? Object.fromEntries(replicas) : undefined,
    subsetStatuses: statuses.size > 0 ? Array.from(statuses, ([name, sums]) => ({ name, ...sums })) : undefined,
  });
}
