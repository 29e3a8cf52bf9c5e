/** The workload controllers of kube-controller-manager. */
import type { ObjectKey } from "@flotilla/client";
import type { Controller } from "@flotilla/controller-runtime";
import type { WorkloadDependencies } from "./dependencies.ts";
import { createAutoscalerController } from "./autoscaler/autoscaler-controller.ts";
import { createCronJobController } from "./cronjob/cronjob-controller.ts";
import { createDaemonSetController } from "./daemonset/daemonset-controller.ts";
import { createDeploymentController } from "./deployment/deployment-controller.ts";
import { createDisruptionController } from "./disruption/disruption-controller.ts";
import { createStaleMarkController } from "./disruption/stale-marks.ts";
import { createEndpointsController } from "./endpoints/endpoints-controller.ts";
import { createFinishedJobController } from "./garbage/finished-jobs.ts";
import { createOrphanedPodController } from "./garbage/orphaned-pods.ts";
import { createJobController } from "./job/job-controller.ts";
import { createJobOrphanController } from "./job/orphans.ts";
import {
  createReplicaSetController,
  createReplicationControllerController,
} from "./replicaset/replicaset-controller.ts";
import { createStatefulSetController } from "./statefulset/statefulset-controller.ts";

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
