/** OverridePolicy: what differs from the template on some members, for objects of its namespace. */
import type { Admission, AnyAdmission } from "../admission.ts";
import { customKind } from "../define.ts";
import type { OverridePolicy as OverridePolicyFacts } from "../facts/policy-karmada-v1alpha1.ts";
import type { Kind } from "../kind.ts";
import { checkOverridePolicy, completeOverridePolicy } from "./override-rules.ts";

export type OverridePolicy = OverridePolicyFacts;

export const OverridePolicy: Kind<OverridePolicy> = customKind<OverridePolicy>({
  group: "policy.karmada.io",
  storageVersion: "v1alpha1",
  kind: "OverridePolicy",
  plural: "overridepolicies",
  shortNames: ["op"],
  categories: ["karmada-io"],
  scope: "Namespaced",
  facts: "overridepolicies.policy.karmada.io",
  columns: [],
});

export const admissions: AnyAdmission[] = [
  {
    for: OverridePolicy,
    on: ["CREATE", "UPDATE"],
    mutate: ({ object }) => completeOverridePolicy(object),
    validate: ({ object }) => checkOverridePolicy(object),
  } satisfies Admission<OverridePolicy>,
];
