/** The controllers that kube-controller-manager has for workloads. */
import type { ObjectKey } from "../../client/index.ts";
import type { Controller } from "../../runtime/index.ts";
import type { WorkloadDependencies } from "../dependencies.ts";
import { createDeploymentController } from "./deployment/controller.ts";
import { createJobController } from "./job/controller.ts";
import { createJobOrphanController } from "./job/orphans.ts";
import { createCronJobController } from "./cronjob/controller.ts";
import { createDaemonSetController } from "./daemonset/controller.ts";
import { createReplicaSetController, createReplicationControllerController } from "./replicaset/controller.ts";
import { createStatefulSetController } from "./statefulset/controller.ts";

export function createKubernetesControllers(deps: WorkloadDependencies): Controller<ObjectKey>[] {
  return [
    createDeploymentController(deps),
    createReplicaSetController(deps),
    createReplicationControllerController(deps),
    createStatefulSetController(deps),
    createDaemonSetController(deps),
    createJobController(deps),
    createJobOrphanController(deps),
    createCronJobController(deps),
  ];
}
