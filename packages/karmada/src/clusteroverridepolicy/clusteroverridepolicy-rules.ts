/** Validation and warnings of ClusterOverridePolicy, as in Karmada's webhook. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { checkOverridePolicy, overrideWarnings } from "../override/override-rules.ts";
import { karmadaAdmission } from "../webhook/webhook.ts";
import { ClusterOverridePolicy } from "./clusteroverridepolicy-kind.ts";

export const clusterOverridePolicyRules: readonly AnyAdmission[] = [
  karmadaAdmission(ClusterOverridePolicy, {
    name: "clusteroverridepolicy.karmada.io",
    check: ({ object }) => checkOverridePolicy(object),
    warnings: ({ object }) => overrideWarnings(object),
  }),
];
