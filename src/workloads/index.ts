/** Controllers that make Kubernetes and OpenKruise workloads run on simulated members. */
import type { ObjectKey } from "../client/index.ts";
import type { Controller } from "../runtime/index.ts";
import type { WorkloadDependencies } from "./dependencies.ts";
import { createDeploymentController } from "./kubernetes/deployment/controller.ts";
import { createReplicaSetController } from "./kubernetes/replicaset/controller.ts";
import { createCloneSetController } from "./kruise/cloneset/controller.ts";
import { indexByController } from "./ownership.ts";

export { createCloneSetAdmission } from "./kruise/cloneset/admission.ts";
export type { WorkloadDependencies } from "./dependencies.ts";

/** To be called once for a set of informers, because it adds indexes to them. */
export function createWorkloadControllers(deps: WorkloadDependencies): Controller<ObjectKey>[] {
  indexByController(deps.informers);
  return [createDeploymentController(deps), createReplicaSetController(deps), createCloneSetController(deps)];
}
