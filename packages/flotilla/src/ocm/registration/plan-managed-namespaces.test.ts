import { expect, test } from "vitest";
import type { ManagedClusterSet } from "@flotilla/ocm";
import { planManagedNamespaces } from "./plan-managed-namespaces.ts";

const makeSet = (name: string, namespaces: string[], deletionTimestamp?: string): ManagedClusterSet => ({
  apiVersion: "cluster.open-cluster-management.io/v1beta2",
  kind: "ManagedClusterSet",
  metadata: { name, deletionTimestamp: deletionTimestamp || undefined },
  spec: { managedNamespaces: namespaces.map((namespace) => ({ name: namespace })) },
});

test("namespaces are listed by set and name, without those of sets that are being deleted", () => {
  const list = planManagedNamespaces([
    makeSet("b", ["y", "x"]),
    makeSet("a", ["z"]),
    makeSet("c", ["gone"], "2024-05-01T12:00:00Z"),
  ]);

  expect(list).toEqual([
    { name: "z", clusterSet: "a" },
    { name: "x", clusterSet: "b" },
    { name: "y", clusterSet: "b" },
  ]);
});

test("an unchanged entry keeps the conditions reported by the agent", () => {
  const reported = {
    name: "x",
    clusterSet: "a",
    conditions: [
      {
        type: "NamespaceAvailable",
        status: "True" as const,
        reason: "NamespaceApplied",
        message: "",
        lastTransitionTime: "2024-05-01T12:00:00Z",
      },
    ],
  };

  expect(planManagedNamespaces([makeSet("a", ["x", "y"])], [reported])).toEqual([
    reported,
    { name: "y", clusterSet: "a" },
  ]);
});

test("the same list is returned if nothing changes", () => {
  const before = [{ name: "x", clusterSet: "a" }];

  expect(planManagedNamespaces([makeSet("a", ["x"])], before)).toBe(before);
});
