/** PriorityClass: a named priority of pods. */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { PriorityClass as PriorityClassFacts } from "@flotilla/apimachinery/facts/scheduling-v1.ts";

export type PriorityClass = PriorityClassFacts;

export const PriorityClass: Kind<PriorityClass> = builtInKind<PriorityClass>({
  group: "scheduling.k8s.io",
  version: "v1",
  kind: "PriorityClass",
  plural: "priorityclasses",
  shortNames: ["pc"],
  scope: "Cluster",
  facts: "scheduling-v1",
  columns: [
    nameColumn,
    column<PriorityClass>("Value", ({ value = 0 }) => value, { type: "integer" }),
    column<PriorityClass>("Global-Default", ({ globalDefault = false }) => globalDefault, { type: "boolean" }),
    ageColumn,
    column<PriorityClass>("PreemptionPolicy", ({ preemptionPolicy = "" }) => preemptionPolicy),
  ],
});
