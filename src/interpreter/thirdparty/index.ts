/** The kinds of other projects that Flotilla understands, so that nobody has to write rules for them. */
import type { KindInterpreter } from "../kind-interpreter.ts";
import { advancedCronJobInterpreter } from "./apps.kruise.io/advancedcronjob.ts";
import { broadcastJobInterpreter } from "./apps.kruise.io/broadcastjob.ts";
import { cloneSetInterpreter } from "./apps.kruise.io/cloneset.ts";
import { advancedDaemonSetInterpreter } from "./apps.kruise.io/daemonset.ts";
import { sidecarSetInterpreter } from "./apps.kruise.io/sidecarset.ts";
import { advancedStatefulSetInterpreter } from "./apps.kruise.io/statefulset.ts";
import { unitedDeploymentInterpreter } from "./apps.kruise.io/uniteddeployment.ts";
import { cronWorkflowInterpreter } from "./argoproj.io/cronworkflow.ts";
import { rolloutInterpreter } from "./argoproj.io/rollout.ts";
import { workflowInterpreter } from "./argoproj.io/workflow.ts";

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
];
