/** ValidatingAdmissionPolicy: CEL expressions that decide whether a write is allowed. */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ValidatingAdmissionPolicy as ValidatingAdmissionPolicyFacts } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { paramKindCell } from "./match-resources.ts";

export type ValidatingAdmissionPolicy = ValidatingAdmissionPolicyFacts;

export const ValidatingAdmissionPolicy: Kind<ValidatingAdmissionPolicy> = builtInKind<ValidatingAdmissionPolicy>({
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
  categories: ["api-extensions"],
  scope: "Cluster",
  facts: "admissionregistration-v1",
  columns: [
    nameColumn,
    column<ValidatingAdmissionPolicy>("Validations", ({ spec }) => spec?.validations?.length ?? 0, { type: "integer" }),
    column<ValidatingAdmissionPolicy>("ParamKind", ({ spec }) => paramKindCell(spec?.paramKind)),
    ageColumn,
  ],
  subresources: { status: true },
  hasGeneration: true,
  traits: { requiresVersion: true, plainFinalizers: true, metadataChecks: { create: true }, statusKeepsMetadata: true },
});
