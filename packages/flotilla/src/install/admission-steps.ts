/**
 * The steps of admission of a hub whose objects another API server keeps. That server has its own steps for the kinds that
 * it knows; these are for the kinds of Karmada, Open Cluster Management and OpenKruise, and for agents.
 */
import { HUB } from "@flotilla/apimachinery";
import type { AnyStep } from "@flotilla/apimachinery";
import type { Clock } from "@flotilla/base";
import { karmadaAdmissions } from "@flotilla/karmada";
import { ocmAdmissions } from "@flotilla/ocm";
import { kruiseAdmissions } from "@flotilla/openkruise";
import { interpreterAdmissions } from "../interpreter/customization/admissions.ts";
import { webhookReferences } from "../interpreter/webhook/webhook-references.ts";
import { createMembershipAdmissions } from "../membership/admissions.ts";
import { policyWarnings } from "../propagation/admission/policy-warnings.ts";
import { templateRequests } from "../propagation/admission/template-requests.ts";
import type { WorkloadProject } from "./plan-definitions.ts";

export interface InstalledStepOptions {
  projects: readonly WorkloadProject[];
  /** Whether ClusterTaintPolicies may set taints that evict. */
  allowNoExecuteTaintPolicy: boolean;
  clock: Pick<Clock, "now">;
}

/** In the order in which they run. */
export function installedSteps({
  projects,
  allowNoExecuteTaintPolicy,
  clock,
}: InstalledStepOptions): readonly AnyStep[] {
  return [
    ...karmadaAdmissions({ allowNoExecute: allowNoExecuteTaintPolicy }),
    ...ocmAdmissions,
    ...(projects.includes("openkruise") ? [...kruiseAdmissions(), templateRequests] : []),
    ...createMembershipAdmissions({ hub: HUB, clock }),
    policyWarnings,
    ...interpreterAdmissions,
    webhookReferences(HUB),
  ];
}
