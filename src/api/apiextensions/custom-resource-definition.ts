/** CustomResourceDefinition: a kind that is declared at run time. */
import type { Admission, AnyAdmission } from "../admission.ts";
import { column, nameColumn } from "../columns.ts";
import { builtInKind } from "../define.ts";
import type { CustomResourceDefinition as CustomResourceDefinitionFacts } from "../facts/apiextensions-v1.ts";
import type { Kind } from "../kind.ts";
import { checkStructural } from "./structural-rules.ts";

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
  columns: [nameColumn, column<CustomResourceDefinition>("Created At", ({ metadata }) => metadata.creationTimestamp ?? "", { type: "date" })],
  subresources: { status: true },
  hasGeneration: true,
});

/** Names, versions and status are the API server's business, which knows what else is served. */
export const admissions: AnyAdmission[] = [
  {
    for: CustomResourceDefinition,
    on: ["CREATE", "UPDATE"],
    validate: ({ object, subresource }) => (subresource === undefined ? checkStructural(object) : []),
  } satisfies Admission<CustomResourceDefinition>,
];
