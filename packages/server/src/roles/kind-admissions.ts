/** The rules of every kind that Flotilla serves. They are selected by kind, so the order of kinds has no meaning. */
import type { AnyKindStep } from "@flotilla/apimachinery";
import { karmadaAdmissions } from "@flotilla/karmada";
import type { ClusterTaintPolicyOptions } from "@flotilla/karmada";
import { kruiseAdmissions } from "@flotilla/openkruise";
import type { FeatureGates } from "@flotilla/openkruise";
import { kubernetesAdmissions } from "@flotilla/kubernetes";
import { ocmAdmissions } from "@flotilla/ocm";

export interface KindAdmissionOptions {
  kruiseGates?: FeatureGates | undefined;
  taintPolicies?: ClusterTaintPolicyOptions;
  /** Whether a kruise-manager runs in this cluster whose webhooks know the rules of its kinds. */
  hasOtherKruise?(cluster: string): boolean;
}

export const createKindAdmissions = ({
  kruiseGates,
  taintPolicies,
  hasOtherKruise,
}: KindAdmissionOptions = {}): readonly AnyKindStep[] => [
  ...kubernetesAdmissions,
  ...karmadaAdmissions(taintPolicies),
  ...ocmAdmissions,
  ...kruiseAdmissions(kruiseGates).map((rules) => (hasOtherKruise ? unless(hasOtherKruise, rules) : rules)),
];

const unless = (isExcluded: (cluster: string) => boolean, rules: AnyKindStep): AnyKindStep => ({
  ...rules,
  matches: (request) => !isExcluded(request.cluster) && (rules.matches?.(request) ?? true),
});

export const kindAdmissions: readonly AnyKindStep[] = createKindAdmissions();
