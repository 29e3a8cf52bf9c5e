import { expect, test } from "vitest";
import type { ClusterRole, PolicyRule } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import { bootstrapRbac } from "./bootstrap-objects.ts";

const objects = bootstrapRbac();
const roleOf = (name: string): ClusterRole =>
  objects.find(({ kind, metadata }) => kind === "ClusterRole" && metadata.name === name) as ClusterRole;
const resourcesOf = (rules: readonly PolicyRule[] | undefined): string[] =>
  (rules ?? []).flatMap(({ resources = [] }) => resources);

test("a cluster starts with the RBAC roles and bindings of Kubernetes", () => {
  const counts = Map.groupBy(objects, ({ kind }) => kind);

  expect(Object.fromEntries([...counts].map(([kind, of]) => [kind, of.length]))).toEqual({
    ClusterRole: 69,
    ClusterRoleBinding: 50,
    Role: 7,
    RoleBinding: 7,
  });
  expect(roleOf("cluster-admin").rules).toEqual([
    { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
    { verbs: ["*"], nonResourceURLs: ["*"] },
  ]);
});

test("admin includes the rules of edit, edit those of view, and view has no access to secrets", () => {
  const [view, edit, admin] = ["view", "edit", "admin"].map((name) => roleOf(name).rules);

  expect(resourcesOf(view)).not.toContain("secrets");
  expect(edit).toEqual(expect.arrayContaining(view ?? []));
  expect(admin).toEqual(expect.arrayContaining(edit ?? []));
  expect(resourcesOf(admin)).toContain("rolebindings");
});
