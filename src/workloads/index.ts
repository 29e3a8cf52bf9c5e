/** Controllers that make Kubernetes and OpenKruise workloads run on simulated members. */
import type { Controller } from "../runtime/index.ts";
import type { WorkloadDependencies } from "./dependencies.ts";
import { createDeploymentController } from "./kubernetes/deployment/controller.ts";
import { createGarbageCollector } from "./kubernetes/garbage-collection.ts";
import { createReplicaSetController } from "./kubernetes/replicaset/controller.ts";
import { createCloneSetController } from "./kruise/cloneset/controller.ts";
import { indexByController } from "./ownership.ts";

export type { WorkloadDependencies } from "./dependencies.ts";

/** To be called once for a set of informers, because it adds indexes to them. */
// oxlint-disable-next-line typescript/no-explicit-any -- A list of controllers of different keys; each key stays inside its own.
export function createWorkloadControllers(deps: WorkloadDependencies): Controller<any>[] {
  indexByController(deps.informers);
  return [createDeploymentController(deps), createReplicaSetController(deps), createCloneSetController(deps), createGarbageCollector(deps)];
}
