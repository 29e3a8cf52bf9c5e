import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { rules as clusterRole } from "./cluster-role.ts";
import { rules as clusterRoleBinding } from "./cluster-role-binding.ts";
import { rules as roleBinding, type RoleBinding } from "./role-binding.ts";
import { rules as role } from "./role.ts";

const group = "rbac.authorization.k8s.io";
const of = (kind: string, rest: object): never =>
  ({ apiVersion: `${group}/v1`, kind, metadata: { name: "a" }, ...rest }) as never;
const view = { apiGroup: group, kind: "ClusterRole", name: "view" };

test("a subject's API group defaults by its kind", () => {
  const subjects = [
    { kind: "User", name: "u" },
    { kind: "Group", name: "g" },
    { kind: "ServiceAccount", name: "s", namespace: "n" },
  ];

  const binding = completedBy<RoleBinding>(
    roleBinding,
    of("RoleBinding", { roleRef: { kind: "Role", name: "r" }, subjects }),
  );

  expect(binding.roleRef.apiGroup).toBe(group);
  expect(binding.subjects?.map(({ apiGroup }) => apiGroup)).toEqual([group, group, undefined]);
});

test("a rule needs verbs, API groups and resources", () => {
  expect(problemsOf(role, of("Role", { rules: [{ apiGroups: [""] }] }))).toEqual([
    "rules[0].verbs: Required value: verbs must contain at least one value",
    "rules[0].resources: Required value: resource rules must supply at least one resource",
  ]);
});

test("non-resource URLs are not allowed in namespaced rules, nor together with resources", () => {
  const rules = [{ verbs: ["get"], nonResourceURLs: ["/x"], resources: ["a"] }];

  expect(problemsOf(role, of("Role", { rules }))).toEqual([
    'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
    'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
  ]);
  expect(problemsOf(clusterRole, of("ClusterRole", { rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] }))).toEqual(
    [],
  );
});

test("an aggregation rule needs selectors", () => {
  expect(problemsOf(clusterRole, of("ClusterRole", { aggregationRule: {} }))).toEqual([
    "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil",
  ]);
});

test("the role of a binding is immutable", () => {
  const before = of("ClusterRoleBinding", { roleRef: view });
  const after = of("ClusterRoleBinding", { roleRef: { ...view, name: "edit" } });

  expect(problemsOf(clusterRoleBinding, after, before)).toEqual([
    `roleRef: Invalid value: {"APIGroup":"${group}","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef`,
  ]);
});

test("a service account in a ClusterRoleBinding needs a namespace", () => {
  const rest = { roleRef: view, subjects: [{ kind: "ServiceAccount", name: "s" }] };

  expect(problemsOf(clusterRoleBinding, of("ClusterRoleBinding", rest))).toEqual([
    "subjects[0].namespace: Required value",
  ]);
  expect(problemsOf(roleBinding, of("RoleBinding", rest))).toEqual([]);
});

test("validation does not crash when all fields are missing", () => {
  expect(problemsOf(roleBinding, of("RoleBinding", { subjects: [{}] })).length).toBeGreaterThan(0);
  expect(problemsOf(role, of("Role", { rules: [{}] })).length).toBeGreaterThan(0);
});
