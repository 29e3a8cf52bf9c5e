/**
 * ClusterRoleBinding: binds a role to subjects in the whole cluster. The role is immutable, because changing it would
 * change who may write the binding.
 */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type { ClusterRoleBinding as ClusterRoleBindingFacts } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { RBAC_GROUP, bindingColumns, checkBinding, defaultBinding, rbacTraits } from "./rbac-rules.ts";

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

export const admissions: AnyAdmission[] = [
  builtInAdmission(ClusterRoleBinding, "rbac-v1", {
    complete: (binding) => defaultBinding(binding),
    validate: ({ object, oldObject }) => checkBinding(object, oldObject, false),
  }),
];
