/** OverridePolicy: overrides for objects of its namespace on some members. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { customKind } from "@flotilla/apimachinery";
import type { OverridePolicy as OverridePolicyFacts } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { checkOverridePolicy, completeOverridePolicy, overrideWarnings } from "./override-rules.ts";
import { karmadaAdmission } from "./webhook.ts";

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
  karmadaAdmission(OverridePolicy, {
    name: "overridepolicy.karmada.io",
    completes: { table: "policy-karmada-v1alpha1", complete: completeOverridePolicy },
    check: ({ object }) => checkOverridePolicy(object),
    warnings: ({ object }) => overrideWarnings(object),
  }),
];
