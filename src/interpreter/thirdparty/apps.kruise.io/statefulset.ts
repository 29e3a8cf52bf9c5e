/** OpenKruise's Advanced StatefulSet: ordinals are unique in the fleet, and a partition keeps the lowest of them. */
import { divideOrdinals } from "../../divide/ordinals.ts";
import type { OrdinalSet } from "../../divide/plan-ordinals.ts";
import type { KindInterpreter } from "../../kind-interpreter.ts";
import { templateDependencies, templateReplicas, withSpecField } from "../../workload.ts";
import { aggregateFields, reflectFields } from "../counters.ts";
import { hasReachedStage } from "./rollout-health.ts";

const FIELDS = {
  counters: ["replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "updatedReadyReplicas"],
  texts: ["updateRevision", "currentRevision"],
};

export const advancedStatefulSetInterpreter: KindInterpreter<OrdinalSet> = {
  group: "apps.kruise.io",
  kind: "StatefulSet",
  replicas: ({ spec }) => templateReplicas(spec?.replicas ?? 1, spec?.template),
  reviseReplicas: (statefulSet, replicas) => withSpecField(statefulSet, "replicas", replicas),
  divide: divideOrdinals,
  reflectStatus: (statefulSet) => reflectFields(statefulSet, [...FIELDS.counters, ...FIELDS.texts]),
  aggregateStatus: (statefulSet, items) => aggregateFields(statefulSet, items, FIELDS),
  isHealthy(statefulSet) {
    const partition = statefulSet.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
    const replicas = statefulSet.spec?.replicas ?? 1;
    if (partition <= 0 || !statefulSet.status) return hasReachedStage(statefulSet, false);
    // This kind does not report how far its partition lets it go.
    return hasReachedStage({ ...statefulSet, status: { ...statefulSet.status, expectedUpdatedReplicas: Math.max(0, replicas - partition) } }, true);
  },
  dependencies(statefulSet) {
    // The volumes of claim templates name claims that the member's controller makes for each pod.
    const made = new Set(statefulSet.spec?.volumeClaimTemplates?.map(({ metadata }) => metadata?.name));
    return templateDependencies(statefulSet).filter(({ kind, name }) => kind !== "PersistentVolumeClaim" || !made.has(name));
  },
};
