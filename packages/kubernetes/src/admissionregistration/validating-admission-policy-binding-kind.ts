/** ValidatingAdmissionPolicyBinding: applies a policy to requests, with parameters. */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ValidatingAdmissionPolicyBinding as ValidatingAdmissionPolicyBindingFacts } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { paramRefCell } from "./match-resources.ts";

export type ValidatingAdmissionPolicyBinding = ValidatingAdmissionPolicyBindingFacts;

export const ValidatingAdmissionPolicyBinding: Kind<ValidatingAdmissionPolicyBinding> =
  builtInKind<ValidatingAdmissionPolicyBinding>({
    group: "admissionregistration.k8s.io",
    version: "v1",
    kind: "ValidatingAdmissionPolicyBinding",
    plural: "validatingadmissionpolicybindings",
    categories: ["api-extensions"],
    scope: "Cluster",
    facts: "admissionregistration-v1",
    columns: [
      nameColumn,
      column<ValidatingAdmissionPolicyBinding>("PolicyName", ({ spec }) => spec?.policyName ?? ""),
      column<ValidatingAdmissionPolicyBinding>("ParamRef", ({ spec }) => paramRefCell(spec?.paramRef)),
      ageColumn,
    ],
    hasGeneration: true,
    traits: { requiresVersion: true, plainFinalizers: true, metadataChecks: { create: true } },
  });
