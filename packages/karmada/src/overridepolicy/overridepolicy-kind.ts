/** OverridePolicy: overrides for objects of its namespace on some members. */
import { customKind } from "@flotilla/apimachinery";
import type { OverridePolicy as OverridePolicyFacts } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { overrideDescriptions } from "../override/override-descriptions.ts";

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
  descriptions: { ...overrideDescriptions, "": "Changes the copies of objects in its namespace on some members." },
});
