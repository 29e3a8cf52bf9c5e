/** CustomResourceDefinition: a kind that is declared at run time. The API server checks whether its names are free. */
import { builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { CustomResourceDefinition as CustomResourceDefinitionFacts } from "@flotilla/apimachinery/facts/apiextensions-v1.ts";

export type CustomResourceDefinition = CustomResourceDefinitionFacts;

export const CustomResourceDefinition: Kind<CustomResourceDefinition> = builtInKind<CustomResourceDefinition>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  scope: "Cluster",
  facts: "apiextensions-v1",
  columns: [
    nameColumn,
    column<CustomResourceDefinition>("Created At", ({ metadata }) => metadata.creationTimestamp ?? "", {
      type: "date",
    }),
  ],
  subresources: { status: true },
  hasGeneration: true,
  // Its own finalizer has no slash.
  traits: { requiresVersion: true, plainFinalizers: true },
});
