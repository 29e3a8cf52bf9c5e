/** Role: permissions for the objects of one namespace. */
import { builtInAdmission, builtInKind, createdColumn, nameColumn } from "@flotilla/apimachinery";
import type { AnyAdmission, Kind } from "@flotilla/apimachinery";
import type { Role as RoleFacts } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import { RBAC_GROUP } from "./identities.ts";
import { checkRules, completeRules, dropEmptyRules, rbacTraits } from "./rbac-rules.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type Role = RoleFacts;

export const Role: Kind<Role> = builtInKind<Role>({
  group: RBAC_GROUP,
  version: "v1",
  kind: "Role",
  plural: "roles",
  scope: "Namespaced",
  facts: "rbac-v1",
  columns: [nameColumn, createdColumn],
  traits: rbacTraits,
});

export const rules: AnyAdmission[] = [
  builtInAdmission(Role, "rbac-v1", {
    complete: completeRules,
    prepare: dropEmptyRules,
    validate: ({ object }) => checkRules(object.rules, true),
  }),
];

export const role = defineKind({
  kind: Role,
  rules,
  example: exampleOf(Role, { rules: [] }),
});
