/**
 * ClusterRoleBinding: binds a role to subjects in the whole cluster. The role is immutable, because changing it would
 * change who may write the binding.
 */
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type { AnyAdmission, Kind } from "@flotilla/apimachinery";
import type { ClusterRoleBinding as ClusterRoleBindingFacts } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import { RBAC_GROUP } from "./identities.ts";
import { bindingColumns, checkBinding, defaultBinding, exampleRoleRef, rbacTraits } from "./rbac-rules.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type ClusterRoleBinding = ClusterRoleBindingFacts;

export const ClusterRoleBinding: Kind<ClusterRoleBinding> = builtInKind<ClusterRoleBinding>({
  group: RBAC_GROUP,
  version: "v1",
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  scope: "Cluster",
  facts: "rbac-v1",
  columns: bindingColumns,
  traits: rbacTraits,
});

export const rules: AnyAdmission[] = [
  builtInAdmission(ClusterRoleBinding, "rbac-v1", {
    complete: (binding) => defaultBinding(binding),
    validate: ({ object, oldObject }) => checkBinding(object, oldObject, false),
  }),
];

export const clusterRoleBinding = defineKind({
  kind: ClusterRoleBinding,
  rules,
  example: exampleOf(ClusterRoleBinding, { roleRef: exampleRoleRef }),
});
