/** MutatingAdmissionPolicyBinding: applies a policy to requests, with parameters. */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { MutatingAdmissionPolicyBinding as MutatingAdmissionPolicyBindingFacts } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { paramRefCell } from "./match-resources.ts";

export type MutatingAdmissionPolicyBinding = MutatingAdmissionPolicyBindingFacts;

export const MutatingAdmissionPolicyBinding: Kind<MutatingAdmissionPolicyBinding> =
  builtInKind<MutatingAdmissionPolicyBinding>({
    group: "admissionregistration.k8s.io",
    version: "v1",
    kind: "MutatingAdmissionPolicyBinding",
    plural: "mutatingadmissionpolicybindings",
    categories: ["api-extensions"],
    scope: "Cluster",
    facts: "admissionregistration-v1",
    columns: [
      nameColumn,
      column<MutatingAdmissionPolicyBinding>("PolicyName", ({ spec }) => spec?.policyName ?? ""),
      column<MutatingAdmissionPolicyBinding>("ParamRef", ({ spec }) => paramRefCell(spec?.paramRef)),
      ageColumn,
    ],
    hasGeneration: true,
    traits: { requiresVersion: true, plainFinalizers: true, metadataChecks: { create: true } },
  });
