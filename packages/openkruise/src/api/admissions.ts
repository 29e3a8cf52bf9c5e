/** Emulates OpenKruise's webhooks for the kinds of this folder, with its feature gates. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { admissions as daemonSet } from "./advanced-daemon-set.ts";
import { admissions as statefulSet } from "./advanced-stateful-set.ts";
import { admissions as broadcastJob } from "./broadcast-job.ts";
import { admissions as cloneSet } from "./clone-set.ts";
import { DEFAULT_KRUISE_GATES, type KruiseGates } from "./gates.ts";
import { admissions as podUnavailableBudget } from "./pod-unavailable-budget.ts";
import { admissions as sidecarSet } from "./sidecar-set.ts";
import { admissions as unitedDeployment } from "./united-deployment.ts";

export function kruiseAdmissions(gates: KruiseGates = DEFAULT_KRUISE_GATES): AnyAdmission[] {
  return [
    ...cloneSet(gates),
    ...statefulSet(gates),
    ...daemonSet,
    ...sidecarSet(gates),
    ...unitedDeployment(gates),
    ...broadcastJob(gates),
    ...podUnavailableBudget(gates),
  ];
}
