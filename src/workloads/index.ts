/** Controllers that make Kubernetes and OpenKruise workloads run on simulated members. */
import type { ObjectKey } from "../client/index.ts";
import type { Controller } from "../runtime/index.ts";
import type { WorkloadDependencies } from "./dependencies.ts";
import { createKubernetesControllers } from "./kubernetes/index.ts";
import { createKruiseControllers } from "./kruise/index.ts";
import { indexByController } from "./ownership.ts";

export { createKruiseAdmissions, type KruiseAdmissions } from "./kruise/index.ts";
export { containerHashes } from "./kruise/in-place/container-hashes.ts";
export { createFeatureGates, type FeatureGates } from "./kruise/feature-gates.ts";
export type { WorkloadDependencies } from "./dependencies.ts";

/** To be called once for a set of informers, because it adds indexes to them. */
export function createWorkloadControllers(deps: WorkloadDependencies): Controller<ObjectKey>[] {
  indexByController(deps.informers);
  return [...createKubernetesControllers(deps), ...createKruiseControllers(deps)];
}
