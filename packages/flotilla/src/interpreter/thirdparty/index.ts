/** The third-party kinds with built-in rules, so that users need not write rules for them. */
import { interpretersOf } from "@flotilla/kubernetes";
import type { KindInterpreter } from "@flotilla/kubernetes";
import { kruiseDefinitions } from "@flotilla/openkruise";
import { argoDefinitions } from "@flotilla/argo";
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
import { rayClusterInterpreter } from "./ray.io/raycluster.ts";
import { rayJobInterpreter } from "./ray.io/rayjob.ts";
import { rayServiceInterpreter } from "./ray.io/rayservice.ts";
import { bucketInterpreter } from "./source.toolkit.fluxcd.io/bucket.ts";
import { gitRepositoryInterpreter } from "./source.toolkit.fluxcd.io/gitrepository.ts";
import { helmChartInterpreter } from "./source.toolkit.fluxcd.io/helmchart.ts";
import { helmRepositoryInterpreter } from "./source.toolkit.fluxcd.io/helmrepository.ts";
import { ociRepositoryInterpreter } from "./source.toolkit.fluxcd.io/ocirepository.ts";
import { sparkApplicationInterpreter } from "./sparkoperator.k8s.io/sparkapplication.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- the list holds interpreters of different kinds.
export const thirdPartyKinds: readonly KindInterpreter<any>[] = [
  ...interpretersOf(kruiseDefinitions),
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
];
