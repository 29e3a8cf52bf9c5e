/**
 * OpenKruise CloneSet in every served version: what is read here is spelled alike in v1alpha1 and v1beta1.
 *
 * Unlike Karmada's rules, a partitioned rollout is healthy once it has reached its stage instead of unhealthy for as long
 * as the stage lasts, and a partition counts the pods of the fleet.
 */
import { dividePartition, type Partitioned } from "../../divide/partition.ts";
import type { KindInterpreter } from "../../kind-interpreter.ts";
import { templateDependencies, templateReplicas, withSpecField } from "../../workload.ts";
import { aggregateFields, reflectFields } from "../counters.ts";
import { hasReachedStage } from "./rollout-health.ts";

const FIELDS = {
  counters: ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "updatedReadyReplicas", "expectedUpdatedReplicas"],
  texts: ["updateRevision", "currentRevision", "labelSelector"],
};

export const cloneSetInterpreter: KindInterpreter<Partitioned> = {
  group: "apps.kruise.io",
  kind: "CloneSet",
  // OpenKruise runs one replica when the field is absent.
  replicas: ({ spec }) => templateReplicas(spec?.replicas ?? 1, spec?.template),
  reviseReplicas: (cloneSet, replicas) => withSpecField(cloneSet, "replicas", replicas),
  divide: (cloneSet, shares) => dividePartition(cloneSet, shares),
  reflectStatus: (cloneSet) => reflectFields(cloneSet, [...FIELDS.counters, ...FIELDS.texts]),
  aggregateStatus: (cloneSet, items) => aggregateFields(cloneSet, items, FIELDS),
  isHealthy: (cloneSet) => hasReachedStage(cloneSet, Boolean(cloneSet.spec?.updateStrategy?.partition)),
  dependencies: templateDependencies,
};
