/** Controllers that run Kubernetes and OpenKruise workloads on simulated members. */
import type { ObjectKey } from "../client/index.ts";
import type { Controller } from "../runtime/index.ts";
import type { WorkloadDependencies } from "./dependencies.ts";
import { createKubernetesControllers } from "./kubernetes/index.ts";
import { createKruiseControllers } from "./kruise/index.ts";
import { createWorkflowController } from "./argo/argo-controller.ts";
import { indexByController } from "./ownership.ts";

export { createKruiseAdmissions } from "./kruise/index.ts";
export { containerHashes } from "./kruise/in-place/container-hashes.ts";
export { createFeatureGates, parseFeatureGates, type FeatureGates } from "./kruise/feature-gates.ts";
export type { WorkloadDependencies } from "./dependencies.ts";

/** The controllers, grouped by the program that contains them in a real cluster. */
export interface WorkloadControllers {
  kubernetes: Controller<ObjectKey>[];
  kruise: Controller<ObjectKey>[];
  argo: Controller<ObjectKey>[];
}

/** Call it once per set of informers, because it adds indexes to them. */
export function createWorkloadControllerGroups(deps: WorkloadDependencies): WorkloadControllers {
  indexByController(deps.informers);
  return {
    kubernetes: createKubernetesControllers(deps),
    kruise: createKruiseControllers(deps),
    argo: [createWorkflowController(deps)],
  };
}

/** The same as one list. */
export function createWorkloadControllers(deps: WorkloadDependencies): Controller<ObjectKey>[] {
  return Object.values(createWorkloadControllerGroups(deps)).flat();
}
