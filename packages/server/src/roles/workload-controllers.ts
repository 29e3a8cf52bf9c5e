/** Wires the controllers that run workloads on simulated members: Kubernetes, OpenKruise and Argo Workflows. */
import type { ObjectKey } from "@flotilla/client";
import type { Controller } from "@flotilla/controller-runtime";
import { controllersOf, createKubernetesControllers, indexByController } from "@flotilla/kubernetes";
import { createKruiseControllers } from "@flotilla/openkruise";
import type { KruiseDependencies } from "@flotilla/openkruise";
import { argoDefinitions } from "@flotilla/argo";

/** The controllers, grouped by the program that contains them in a real cluster. */
export interface WorkloadControllers {
  kubernetes: Controller<ObjectKey>[];
  kruise: Controller<ObjectKey>[];
  argo: Controller<ObjectKey>[];
}

/** Call it once per set of informers, because it adds indexes to them. */
export function createWorkloadControllerGroups(deps: KruiseDependencies): WorkloadControllers {
  indexByController(deps.informers);
  return {
    kubernetes: createKubernetesControllers(deps),
    kruise: createKruiseControllers(deps),
    argo: controllersOf(argoDefinitions, deps),
  };
}

/** The same as one list. */
export function createWorkloadControllers(deps: KruiseDependencies): Controller<ObjectKey>[] {
  return Object.values(createWorkloadControllerGroups(deps)).flat();
}
