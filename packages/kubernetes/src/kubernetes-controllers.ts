/** The workload controllers of kube-controller-manager. */
import type { ObjectKey } from "@flotilla/client";
import type { Controller } from "@flotilla/controller-runtime";
import type { WorkloadDependencies } from "./workloads/dependencies.ts";
import { createAutoscalerController } from "./horizontalpodautoscaler/horizontalpodautoscaler-controller.ts";
import { createCronJobController } from "./cronjob/cronjob-controller.ts";
import { createDaemonSetController } from "./daemonset/daemonset-controller.ts";
import { createDeploymentController } from "./deployment/deployment-controller.ts";
import { createDisruptionController } from "./poddisruptionbudget/poddisruptionbudget-controller.ts";
import { createStaleMarkController } from "./poddisruptionbudget/stale-marks-controller.ts";
import { createEndpointsController } from "./endpoints/endpoints-controller.ts";
import { createFinishedJobController } from "./job/finished-jobs-controller.ts";
import { createOrphanedPodController } from "./pod/pod-garbage-controller.ts";
import { createJobController } from "./job/job-controller.ts";
import { createJobOrphanController } from "./job/job-orphans-controller.ts";
import { createReplicaSetController } from "./replicaset/replicaset-controller.ts";
import { createReplicationControllerController } from "./replicationcontroller/replicationcontroller-controller.ts";
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
