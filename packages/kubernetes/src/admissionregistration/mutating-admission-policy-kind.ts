/** MutatingAdmissionPolicy: CEL expressions that change what is written. */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { MutatingAdmissionPolicy as MutatingAdmissionPolicyFacts } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { paramKindCell } from "./match-resources.ts";

export type MutatingAdmissionPolicy = MutatingAdmissionPolicyFacts;

export const MutatingAdmissionPolicy: Kind<MutatingAdmissionPolicy> = builtInKind<MutatingAdmissionPolicy>({
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "MutatingAdmissionPolicy",
  plural: "mutatingadmissionpolicies",
  categories: ["api-extensions"],
  scope: "Cluster",
  facts: "admissionregistration-v1",
  columns: [
    nameColumn,
    column<MutatingAdmissionPolicy>("Mutations", ({ spec }) => spec?.mutations?.length ?? 0, { type: "integer" }),
    column<MutatingAdmissionPolicy>("ParamKind", ({ spec }) => paramKindCell(spec?.paramKind)),
    ageColumn,
  ],
  hasGeneration: true,
  traits: { requiresVersion: true, plainFinalizers: true, metadataChecks: { create: true } },
});
