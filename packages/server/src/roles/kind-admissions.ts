/** The rules of every kind that Flotilla serves. They are selected by kind, so the order of kinds has no meaning. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { karmadaAdmissions } from "@flotilla/karmada";
import type { ClusterTaintPolicyOptions } from "@flotilla/karmada";
import { kruiseAdmissions } from "@flotilla/openkruise";
import type { FeatureGates } from "@flotilla/openkruise";
import { kubernetesAdmissions } from "@flotilla/kubernetes";
import { ocmAdmissions } from "@flotilla/ocm";

export const createKindAdmissions = (
  gates?: FeatureGates,
  taintPolicies?: ClusterTaintPolicyOptions,
): readonly AnyAdmission[] => [
  ...kubernetesAdmissions,
  ...karmadaAdmissions(taintPolicies),
  ...ocmAdmissions,
  ...kruiseAdmissions(gates),
];

export const kindAdmissions: readonly AnyAdmission[] = createKindAdmissions();
