/** Defaults, validation and warnings of OverridePolicy, as in Karmada's webhooks. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { checkOverridePolicy, completeOverridePolicy, overrideWarnings } from "../override/override-rules.ts";
import { karmadaAdmission } from "../webhook/webhook.ts";
import { OverridePolicy } from "./overridepolicy-kind.ts";

export const overridePolicyRules: readonly AnyAdmission[] = [
  karmadaAdmission(OverridePolicy, {
    name: "overridepolicy.karmada.io",
    completes: { table: "policy-karmada-v1alpha1", complete: completeOverridePolicy },
    check: ({ object }) => checkOverridePolicy(object),
    warnings: ({ object }) => overrideWarnings(object),
  }),
];
