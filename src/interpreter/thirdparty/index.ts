/** The third-party kinds with built-in rules, so that users need not write rules for them. */
import type { KindInterpreter } from "../kind-interpreter.ts";
import { advancedCronJobInterpreter } from "./apps.kruise.io/advancedcronjob.ts";
import { broadcastJobInterpreter } from "./apps.kruise.io/broadcastjob.ts";
import { cloneSetInterpreter } from "./apps.kruise.io/cloneset.ts";
import { containerRecreateRequestInterpreter } from "./apps.kruise.io/containerrecreaterequest.ts";
import { advancedDaemonSetInterpreter } from "./apps.kruise.io/daemonset.ts";
import { ephemeralJobInterpreter } from "./apps.kruise.io/ephemeraljob.ts";
import { imageListPullJobInterpreter } from "./apps.kruise.io/imagelistpulljob.ts";
import { imagePullJobInterpreter } from "./apps.kruise.io/imagepulljob.ts";
import { persistentPodStateInterpreter } from "./apps.kruise.io/persistentpodstate.ts";
import { podProbeMarkerInterpreter } from "./apps.kruise.io/podprobemarker.ts";
import { resourceDistributionInterpreter } from "./apps.kruise.io/resourcedistribution.ts";
import { sidecarSetInterpreter } from "./apps.kruise.io/sidecarset.ts";
import { advancedStatefulSetInterpreter } from "./apps.kruise.io/statefulset.ts";
import { unitedDeploymentInterpreter } from "./apps.kruise.io/uniteddeployment.ts";
import { workloadSpreadInterpreter } from "./apps.kruise.io/workloadspread.ts";
import { cronWorkflowInterpreter } from "./argoproj.io/cronworkflow.ts";
import { rolloutInterpreter } from "./argoproj.io/rollout.ts";
import { workflowInterpreter } from "./argoproj.io/workflow.ts";
import { volcanoJobInterpreter } from "./batch.volcano.sh/job.ts";
import { mpiJobInterpreter } from "./kubeflow.org/mpijob.ts";
import { notebookInterpreter } from "./kubeflow.org/notebook.ts";
import { pyTorchJobInterpreter } from "./kubeflow.org/pytorchjob.ts";
import { tfJobInterpreter } from "./kubeflow.org/tfjob.ts";
import { flinkDeploymentInterpreter } from "./flink.apache.org/flinkdeployment.ts";
import { helmReleaseInterpreter } from "./helm.toolkit.fluxcd.io/helmrelease.ts";
import { kustomizationInterpreter } from "./kustomize.toolkit.fluxcd.io/kustomization.ts";
import { clusterPolicyInterpreter } from "./kyverno.io/clusterpolicy.ts";
import { kyvernoPolicyInterpreter } from "./kyverno.io/policy.ts";
import { podUnavailableBudgetInterpreter } from "./policy.kruise.io/podunavailablebudget.ts";
import { rayClusterInterpreter } from "./ray.io/raycluster.ts";
import { rayJobInterpreter } from "./ray.io/rayjob.ts";
import { rayServiceInterpreter } from "./ray.io/rayservice.ts";
import { kruiseRolloutInterpreter } from "./rollouts.kruise.io/rollout.ts";
import { bucketInterpreter } from "./source.toolkit.fluxcd.io/bucket.ts";
import { gitRepositoryInterpreter } from "./source.toolkit.fluxcd.io/gitrepository.ts";
import { helmChartInterpreter } from "./source.toolkit.fluxcd.io/helmchart.ts";
import { helmRepositoryInterpreter } from "./source.toolkit.fluxcd.io/helmrepository.ts";
import { ociRepositoryInterpreter } from "./source.toolkit.fluxcd.io/ocirepository.ts";
import { sparkApplicationInterpreter } from "./sparkoperator.k8s.io/sparkapplication.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- the list holds interpreters of different kinds.
export const thirdPartyKinds: readonly KindInterpreter<any>[] = [
  advancedCronJobInterpreter,
  broadcastJobInterpreter,
  cloneSetInterpreter,
  advancedDaemonSetInterpreter,
  sidecarSetInterpreter,
  advancedStatefulSetInterpreter,
  unitedDeploymentInterpreter,
  cronWorkflowInterpreter,
  rolloutInterpreter,
  workflowInterpreter,
  volcanoJobInterpreter,
  mpiJobInterpreter,
  notebookInterpreter,
  pyTorchJobInterpreter,
  tfJobInterpreter,
  helmReleaseInterpreter,
  kustomizationInterpreter,
  bucketInterpreter,
  gitRepositoryInterpreter,
  helmChartInterpreter,
  helmRepositoryInterpreter,
  ociRepositoryInterpreter,
  clusterPolicyInterpreter,
  kyvernoPolicyInterpreter,
  flinkDeploymentInterpreter,
  sparkApplicationInterpreter,
  rayClusterInterpreter,
  rayJobInterpreter,
  rayServiceInterpreter,
  containerRecreateRequestInterpreter,
  ephemeralJobInterpreter,
  imageListPullJobInterpreter,
  imagePullJobInterpreter,
  persistentPodStateInterpreter,
  podProbeMarkerInterpreter,
  resourceDistributionInterpreter,
  workloadSpreadInterpreter,
  podUnavailableBudgetInterpreter,
  kruiseRolloutInterpreter,
];
