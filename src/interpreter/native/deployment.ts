/** apps/v1 Deployment, as Karmada reads it. */
import type { Deployment } from "../../api/index.ts";
import type { KindInterpreter } from "../kind-interpreter.ts";
import { podDependencies } from "../pod-dependencies.ts";
import { podRequirements } from "../pod-requirements.ts";
import { aggregateCounters, reflectCounters } from "../replica-status.ts";

/** On a template, leaves the replicas of an existing copy to the member, for example to its HorizontalPodAutoscaler. */
const RETAIN_REPLICAS = "resourcetemplate.karmada.io/retain-replicas";
const COUNTERS = ["replicas", "readyReplicas", "updatedReplicas", "availableReplicas", "unavailableReplicas"];

export const deploymentInterpreter: KindInterpreter<Deployment> = {
  group: "apps",
  kind: "Deployment",
  replicas({ spec }) {
    const requirements = podRequirements(spec.template);
    return { replicas: spec.replicas ?? 0, ...(requirements && { requirements }) };
  },
  reviseReplicas: (deployment, replicas) => ({ ...deployment, spec: { ...deployment.spec, replicas } }),
  retain(desired, observed) {
    const isRetained = desired.metadata.labels?.[RETAIN_REPLICAS] === "true" && observed.spec.replicas !== undefined;
    return isRetained ? { ...desired, spec: { ...desired.spec, replicas: observed.spec.replicas } } : desired;
  },
  reflectStatus: (deployment) => reflectCounters(deployment, [...COUNTERS, "observedGeneration"]),
  aggregateStatus: (deployment, items) => aggregateCounters(deployment, items, { counters: COUNTERS, omitsZero: true }),
  isHealthy({ metadata, spec, status = {} }) {
    const updated = status.updatedReplicas ?? 0;
    return (status.observedGeneration ?? 0) === (metadata.generation ?? 0) && updated >= (spec.replicas ?? 1) && (status.availableReplicas ?? 0) >= updated;
  },
  dependencies: ({ metadata, spec }) => podDependencies(spec.template, metadata.namespace),
};
