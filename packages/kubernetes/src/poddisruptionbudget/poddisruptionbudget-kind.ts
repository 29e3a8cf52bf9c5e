/** PodDisruptionBudget: limits how many pods of a set may be down at once through voluntary disruptions. */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { PodDisruptionBudget as PodDisruptionBudgetFacts } from "@flotilla/apimachinery/facts/policy-v1.ts";

export type PodDisruptionBudget = PodDisruptionBudgetFacts;

export const PodDisruptionBudget: Kind<PodDisruptionBudget> = builtInKind<PodDisruptionBudget>({
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  shortNames: ["pdb"],
  scope: "Namespaced",
  facts: "policy-v1",
  columns: [
    nameColumn,
    column<PodDisruptionBudget>("Min Available", ({ spec }) => String(spec?.minAvailable ?? "N/A")),
    column<PodDisruptionBudget>("Max Unavailable", ({ spec }) => String(spec?.maxUnavailable ?? "N/A")),
    column<PodDisruptionBudget>("Allowed Disruptions", ({ status }) => status?.disruptionsAllowed ?? 0, {
      type: "integer",
    }),
    ageColumn,
  ],
  subresources: { status: true },
  hasGeneration: true,
  traits: { plainFinalizers: true, names: "path", metadataChecks: {}, requiresVersion: true },
});
