/** The third-party kinds with built-in rules, so that users need not write rules for them. */
import type { KindInterpreter } from "@flotilla/kubernetes";
import { advancedCronJobInterpreter } from "@flotilla/openkruise";
import { broadcastJobInterpreter } from "@flotilla/openkruise";
import { cloneSetInterpreter } from "@flotilla/openkruise";
import { containerRecreateRequestInterpreter } from "@flotilla/openkruise";
import { advancedDaemonSetInterpreter } from "@flotilla/openkruise";
import { ephemeralJobInterpreter } from "@flotilla/openkruise";
import { imageListPullJobInterpreter } from "@flotilla/openkruise";
import { imagePullJobInterpreter } from "@flotilla/openkruise";
import { persistentPodStateInterpreter } from "@flotilla/openkruise";
import { podProbeMarkerInterpreter } from "@flotilla/openkruise";
import { resourceDistributionInterpreter } from "@flotilla/openkruise";
import { sidecarSetInterpreter } from "@flotilla/openkruise";
import { advancedStatefulSetInterpreter } from "@flotilla/openkruise";
import { unitedDeploymentInterpreter } from "@flotilla/openkruise";
import { workloadSpreadInterpreter } from "@flotilla/openkruise";
import { argoDefinitions } from "@flotilla/argo";
import { interpretersOf } from "@flotilla/kubernetes";
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
  ...interpretersOf(argoDefinitions),
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
