/**
 * RoleBinding: binds a role to subjects in one namespace. The role is immutable, because changing it would change who
 * may write the binding.
 */
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type { AnyAdmission, Kind } from "@flotilla/apimachinery";
import type { RoleBinding as RoleBindingFacts } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import { RBAC_GROUP } from "./identities.ts";
import { bindingColumns, checkBinding, defaultBinding, exampleRoleRef, rbacTraits } from "./rbac-rules.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type RoleBinding = RoleBindingFacts;

export const RoleBinding: Kind<RoleBinding> = builtInKind<RoleBinding>({
  group: RBAC_GROUP,
  version: "v1",
  kind: "RoleBinding",
  plural: "rolebindings",
  scope: "Namespaced",
  facts: "rbac-v1",
  columns: bindingColumns,
  traits: rbacTraits,
});

export const rules: AnyAdmission[] = [
  builtInAdmission(RoleBinding, "rbac-v1", {
    complete: (binding) => defaultBinding(binding),
    validate: ({ object, oldObject }) => checkBinding(object, oldObject, true),
  }),
];

export const roleBinding = defineKind({
  kind: RoleBinding,
  rules,
  example: exampleOf(RoleBinding, { roleRef: exampleRoleRef }),
});
