/**
 * OpenKruise UnitedDeployment: one workload over several subsets. The pod template sits inside the template of the workload
 * that each subset runs; a bare one, as some manuals show it, is understood as well.
 */
import type { DeepReadonly } from "../../../base/index.ts";
import { divideSubsets, type SubsetWorkload } from "../../divide/subsets.ts";
import type { KindInterpreter } from "../../kind-interpreter.ts";
import { podDependencies } from "../../pod-dependencies.ts";
import { isRolledOut, templateReplicas, withSpecField, type PodTemplateShape } from "../../workload.ts";
import { aggregateFields, mergeConditions, reflectFields } from "../counters.ts";

const FIELDS = { counters: ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"] };
const WORKLOAD_TEMPLATES = ["statefulSetTemplate", "advancedStatefulSetTemplate", "cloneSetTemplate", "deploymentTemplate"] as const;

export const unitedDeploymentInterpreter: KindInterpreter<SubsetWorkload> = {
  group: "apps.kruise.io",
  kind: "UnitedDeployment",
  replicas: (united) => templateReplicas(united.spec?.replicas ?? 1, podTemplateOf(united)),
  reviseReplicas: (united, replicas) => withSpecField(united, "replicas", replicas),
  divide: divideSubsets,
  reflectStatus: (united) => reflectFields(united, [...FIELDS.counters, "conditions"]),
  aggregateStatus(united, items) {
    const conditions = mergeConditions(items);
    return aggregateFields(united, items, FIELDS, conditions.length > 0 ? { conditions } : {});
  },
  isHealthy: (united) => united.status !== undefined && isRolledOut(united),
  dependencies: (united) => podDependencies(podTemplateOf(united), united.metadata.namespace),
};

function podTemplateOf({ spec }: DeepReadonly<SubsetWorkload>): DeepReadonly<PodTemplateShape> | undefined {
  const template = spec?.template;
  const nested = WORKLOAD_TEMPLATES.map((name) => template?.[name]?.spec?.template).find((found) => found !== undefined);
  return nested ?? template;
}
