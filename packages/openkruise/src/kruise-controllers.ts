/** OpenKruise on a member: its controllers, and its webhooks as admissions. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import type { ObjectKey } from "@flotilla/client";
import type { Controller } from "@flotilla/controller-runtime";
import type { WorkloadDependencies } from "@flotilla/kubernetes";
import { createBroadcastJobController } from "./broadcastjob/broadcastjob-controller.ts";
import { createCloneSetController } from "./cloneset/cloneset-controller.ts";
import { createAdvancedDaemonSetController } from "./daemonset/daemonset-controller.ts";
import { createDeletionProtectionAdmissions } from "./deletion-protection/admission.ts";
import { DEFAULT_GATES } from "@flotilla/kubernetes";
import type { FeatureGates } from "@flotilla/kubernetes";
import { createLaunchPriorityAdmission } from "./launch-priority/admission.ts";
import { createLaunchPriorityController } from "./launch-priority/launch-priority-controller.ts";
import { createPodStartAdmission } from "./pod-readiness/admission.ts";
import { createPodReadinessController } from "./pod-readiness/pod-readiness-controller.ts";
import { createBudgetAdmissions } from "./pod-unavailable-budget/admission.ts";
import type { BudgetAdmissionOptions } from "./pod-unavailable-budget/admission.ts";
import { createBudgetController } from "./pod-unavailable-budget/pod-unavailable-budget-controller.ts";
import { createMayUpdatePod } from "./pod-unavailable-budget/may-update.ts";
import { createSidecarSetAdmission } from "./sidecarset/admission.ts";
import { createSidecarSetController } from "./sidecarset/sidecarset-controller.ts";
import { createAdvancedStatefulSetController } from "./statefulset/statefulset-controller.ts";
import { createUnitedDeploymentController } from "./uniteddeployment/uniteddeployment-controller.ts";

export function createKruiseControllers(deps: WorkloadDependencies): Controller<ObjectKey>[] {
  const mayUpdatePod = createMayUpdatePod(deps);
  return [
    createCloneSetController({ ...deps, ...(mayUpdatePod && { mayUpdatePod }) }),
    createPodReadinessController(deps),
    createLaunchPriorityController(deps),
    createUnitedDeploymentController(deps),
    createAdvancedStatefulSetController(deps),
    createAdvancedDaemonSetController(deps),
    createSidecarSetController(deps),
    createBudgetController(deps),
    createBroadcastJobController(deps),
  ];
}

export interface KruiseAdmissions {
  /** Whether OpenKruise runs in this cluster; the hub only propagates its objects. */
  appliesTo(cluster: string): boolean;
  /** The clock of the controllers. */
  nowMs(): number;
  /** Unset means OpenKruise's defaults. */
  gates?: FeatureGates;
  /** Unset emits no events. */
  recordEvent?: BudgetAdmissionOptions["recordEvent"];
}

/** OpenKruise's webhooks that depend on other objects of the cluster. Pods pass through them in upstream's order. */
export function createKruiseAdmissions({ gates = DEFAULT_GATES, ...rest }: KruiseAdmissions): AnyAdmission[] {
  const options = { ...rest, gates };
  return [
    createPodStartAdmission(options),
    createSidecarSetAdmission(options),
    createLaunchPriorityAdmission(options),
    ...createBudgetAdmissions(options),
    ...createDeletionProtectionAdmissions(options),
  ];
}
