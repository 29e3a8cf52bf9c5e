/** The built-in Kubernetes kinds with interpreter rules. */
import type { KindInterpreter } from "./interpreter/kind-interpreter.ts";
import { cronJobInterpreter } from "./cronjob/cronjob-interpreter.ts";
import { daemonSetInterpreter } from "./daemonset/daemonset-interpreter.ts";
import { deploymentInterpreter } from "./deployment/deployment-interpreter.ts";
import { horizontalPodAutoscalerInterpreter } from "./horizontalpodautoscaler/horizontalpodautoscaler-interpreter.ts";
import { ingressInterpreter } from "./ingress/ingress-interpreter.ts";
import { jobInterpreter } from "./job/job-interpreter.ts";
import { persistentVolumeInterpreter } from "./persistentvolume/persistentvolume-interpreter.ts";
import { persistentVolumeClaimInterpreter } from "./persistentvolumeclaim/persistentvolumeclaim-interpreter.ts";
import { podInterpreter } from "./pod/pod-interpreter.ts";
import { podDisruptionBudgetInterpreter } from "./poddisruptionbudget/poddisruptionbudget-interpreter.ts";
import { replicaSetInterpreter } from "./replicaset/replicaset-interpreter.ts";
import { secretInterpreter } from "./secret/secret-interpreter.ts";
import { serviceInterpreter } from "./service/service-interpreter.ts";
import { serviceAccountInterpreter } from "./serviceaccount/serviceaccount-interpreter.ts";
import { serviceImportInterpreter } from "./serviceimport/serviceimport-interpreter.ts";
import { statefulSetInterpreter } from "./statefulset/statefulset-interpreter.ts";

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
