/** Secret: a ConfigMap for confidential data. */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { Secret as SecretFacts } from "@flotilla/apimachinery/facts/core-v1.ts";

export type Secret = SecretFacts;

export const Secret: Kind<Secret> = builtInKind<Secret>({
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  scope: "Namespaced",
  facts: "core-v1",
  columns: [
    nameColumn,
    column<Secret>("Type", ({ type = "" }) => type),
    column<Secret>("Data", ({ data = {} }) => Object.keys(data).length),
    ageColumn,
  ],
  traits: {
    metadataChecks: { update: true, create: true },
    selectableFields: { type: ({ type }) => (typeof type === "string" ? type : "") },
  },
});
