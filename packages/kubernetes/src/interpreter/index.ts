/** The built-in Kubernetes kinds with interpreter rules. */
import type { KindInterpreter } from "./kind-interpreter.ts";
import { cronJobInterpreter } from "./cronjob.ts";
import { daemonSetInterpreter } from "./daemonset.ts";
import { deploymentInterpreter } from "./deployment.ts";
import { horizontalPodAutoscalerInterpreter } from "./horizontalpodautoscaler.ts";
import { ingressInterpreter } from "./ingress.ts";
import { jobInterpreter } from "./job.ts";
import { persistentVolumeInterpreter } from "./persistentvolume.ts";
import { persistentVolumeClaimInterpreter } from "./persistentvolumeclaim.ts";
import { podInterpreter } from "./pod.ts";
import { podDisruptionBudgetInterpreter } from "./poddisruptionbudget.ts";
import { replicaSetInterpreter } from "./replicaset.ts";
import { secretInterpreter } from "./secret.ts";
import { serviceInterpreter } from "./service.ts";
import { serviceAccountInterpreter } from "./serviceaccount.ts";
import { serviceImportInterpreter } from "./serviceimport.ts";
import { statefulSetInterpreter } from "./statefulset.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- the list holds interpreters of different kinds.
export const nativeKinds: readonly KindInterpreter<any>[] = [
  cronJobInterpreter,
  daemonSetInterpreter,
  deploymentInterpreter,
  horizontalPodAutoscalerInterpreter,
  ingressInterpreter,
  jobInterpreter,
  persistentVolumeInterpreter,
  persistentVolumeClaimInterpreter,
  podInterpreter,
  podDisruptionBudgetInterpreter,
  replicaSetInterpreter,
  secretInterpreter,
  serviceInterpreter,
  serviceAccountInterpreter,
  serviceImportInterpreter,
  statefulSetInterpreter,
];
