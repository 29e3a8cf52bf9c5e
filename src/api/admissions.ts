/** Every admission of the kinds in this folder. Admissions are selected by kind, so the order of kinds has no meaning. */
import type { AnyAdmission } from "./admission.ts";
import { karmadaAdmissions } from "./karmada/admissions.ts";
import type { ClusterTaintPolicyOptions } from "./karmada/cluster-taint-policy.ts";
import { kruiseAdmissions } from "./kruise/admissions.ts";
import type { KruiseGates } from "./kruise/gates.ts";
import { convertsWithoutWebhook } from "./kruise/kinds.ts";
import { createKubernetesAdmissions } from "./kubernetes-admissions.ts";
import { ocmAdmissions } from "./ocm/admissions.ts";

export const createBuiltInAdmissions = (
  gates?: KruiseGates,
  taintPolicies?: ClusterTaintPolicyOptions,
): readonly AnyAdmission[] => [
  ...createKubernetesAdmissions(convertsWithoutWebhook),
  ...karmadaAdmissions(taintPolicies),
  ...ocmAdmissions,
  ...kruiseAdmissions(gates),
];

export const builtInAdmissions: readonly AnyAdmission[] = createBuiltInAdmissions();
