/** Namespace: separates the objects of one team from those of others. */
import type { DeepReadonly } from "@flotilla/base";
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { Namespace as NamespaceFacts } from "@flotilla/apimachinery/facts/core-v1.ts";

export type Namespace = NamespaceFacts;

export const Namespace: Kind<Namespace> = builtInKind<Namespace>({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  shortNames: ["ns"],
  scope: "Cluster",
  facts: "core-v1",
  columns: [nameColumn, column<Namespace>("Status", ({ status }) => status?.phase ?? ""), ageColumn],
  subresources: { status: true },
  traits: {
    names: "label",
    metadataChecks: { update: true, create: true },
    deletionReturnsObject: true,
    selectableFields: {
      "status.phase": (namespace) => (namespace as DeepReadonly<Namespace>).status?.phase ?? "",
      // The legacy field selector for metadata.name.
      name: (namespace) => (namespace as DeepReadonly<Namespace>).metadata.name,
    },
  },
});
