/** Namespace: what separates the objects of one team from another's. */
import type { AnyAdmission } from "../admission.ts";
import { ageColumn, column, nameColumn } from "../columns.ts";
import { builtInAdmission, builtInKind } from "../define.ts";
import type { Namespace as NamespaceFacts } from "../facts/core-v1.ts";
import type { Kind } from "../kind.ts";

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
});

export const admissions: AnyAdmission[] = [builtInAdmission(Namespace, "core-v1")];
