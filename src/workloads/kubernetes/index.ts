/** The workload controllers of kube-controller-manager. */
import type { ObjectKey } from "../../client/index.ts";
import type { Controller } from "../../runtime/index.ts";
import type { WorkloadDependencies } from "../dependencies.ts";
import { createAutoscalerController } from "./autoscaler/controller.ts";
import { createCronJobController } from "./cronjob/controller.ts";
import { createDaemonSetController } from "./daemonset/controller.ts";
import { createDeploymentController } from "./deployment/controller.ts";
import { createDisruptionController } from "./disruption/controller.ts";
import { createStaleMarkController } from "./disruption/stale-marks.ts";
import { createEndpointsController } from "./endpoints/controller.ts";
import { createFinishedJobController } from "./garbage/finished-jobs.ts";
import { createOrphanedPodController } from "./garbage/orphaned-pods.ts";
import { createJobController } from "./job/controller.ts";
import { createJobOrphanController } from "./job/orphans.ts";
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
    createEndpointsController(deps),
    createDisruptionController(deps),
    createStaleMarkController(deps),
    createAutoscalerController(deps),
    createFinishedJobController(deps),
    createOrphanedPodController(deps),
  ];
}
