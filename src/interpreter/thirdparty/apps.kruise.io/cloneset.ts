/**
 * OpenKruise CloneSet in every served version: what is read here is spelled alike in v1alpha1 and v1beta1.
 *
 * Unlike Karmada's rules, a paused or partitioned rollout is healthy once it has reached what was asked for
 * (`expectedUpdatedReplicas`), instead of unhealthy for as long as the stage lasts.
 */
import type { CloneSet } from "../../../api/index.ts";
import type { KindInterpreter } from "../../kind-interpreter.ts";
import { podDependencies } from "../../pod-dependencies.ts";
import { podRequirements } from "../../pod-requirements.ts";
import { aggregateCounters, reflectCounters } from "../../replica-status.ts";

const COUNTERS = ["replicas", "readyReplicas", "availableReplicas", "updatedReplicas", "updatedReadyReplicas", "updatedAvailableReplicas", "expectedUpdatedReplicas"];
const TEXTS = ["updateRevision", "currentRevision", "labelSelector"];

export const cloneSetInterpreter: KindInterpreter<CloneSet> = {
  group: "apps.kruise.io",
  kind: "CloneSet",
  replicas({ spec }) {
    const requirements = podRequirements(spec.template);
    // OpenKruise runs one replica when the field is absent.
    return { replicas: spec.replicas ?? 1, ...(requirements && { requirements }) };
  },
  reviseReplicas: (cloneSet, replicas) => ({ ...cloneSet, spec: { ...cloneSet.spec, replicas } }),
  reflectStatus: (cloneSet) => reflectCounters(cloneSet, [...COUNTERS, ...TEXTS, "observedGeneration"]),
  aggregateStatus: (cloneSet, items) => aggregateCounters(cloneSet, items, { counters: COUNTERS, texts: TEXTS }),
  isHealthy({ metadata, spec, status }) {
    if (!status || (status.observedGeneration ?? 0) !== (metadata.generation ?? 0)) return false;
    const wanted = Math.min(spec.replicas ?? 1, status.expectedUpdatedReplicas ?? Number.POSITIVE_INFINITY);
    return (status.updatedReplicas ?? 0) >= wanted && (status.availableReplicas ?? 0) >= (spec.replicas ?? 1);
  },
  dependencies: ({ metadata, spec }) => podDependencies(spec.template, metadata.namespace),
};
