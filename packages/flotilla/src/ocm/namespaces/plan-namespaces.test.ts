import { expect, test } from "vitest";
import type { ManagedCluster } from "@flotilla/ocm";
import { namespaceLabel, wantedEntries, withOutcomes } from "./plan-namespaces.ts";

const NOW = "2026-01-01T00:00:00Z";
const makeCluster = (accepted: boolean, deletionTimestamp?: string): ManagedCluster => ({
  apiVersion: "cluster.open-cluster-management.io/v1",
  kind: "ManagedCluster",
  metadata: { name: "paris", deletionTimestamp: deletionTimestamp || undefined },
  spec: { hubAcceptsClient: accepted },
  status: { conditions: [], managedNamespaces: [{ name: "shop", clusterSet: "eu" }] },
});

test("a cluster that is not accepted or is being deleted gets no namespaces", () => {
  expect(wantedEntries(makeCluster(true)).map(({ name }) => name)).toEqual(["shop"]);
  expect(wantedEntries(makeCluster(false))).toEqual([]);
  expect(wantedEntries(makeCluster(true, NOW))).toEqual([]);
});

test("every entry has a condition for its namespace, and is not rewritten while it is unchanged", () => {
  const entries = [
    { name: "shop", clusterSet: "eu" },
    { name: "stock", clusterSet: "eu" },
  ];

  const reported = withOutcomes(entries, new Map([["stock", "a quota says no"]]), NOW);

  expect(
    reported.map(({ conditions }) => conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)),
  ).toEqual([["NamespaceAvailable True NamespaceApplied"], ["NamespaceAvailable False NamespaceApplyFailed"]]);
  expect(reported[1]?.conditions?.[0]?.message).toBe("Failed to apply namespace: a quota says no");
  expect(withOutcomes(reported, new Map([["stock", "a quota says no"]]), "2026-01-02T00:00:00Z")).toBe(reported);
});

test("the label contains as much of the hub's hash as fits", () => {
  expect(namespaceLabel("a".repeat(64))).toBe(`clusterset.open-cluster-management.io/${"a".repeat(63)}`);
});
