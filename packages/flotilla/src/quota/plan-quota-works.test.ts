import type { FederatedResourceQuota, Work } from "@flotilla/karmada";
import { describe, expect, test } from "vitest";
import { planAggregatedStatus, planQuotaWorks } from "./plan-quota-works.ts";

const assignments = [
  { clusterName: "paris", hard: { cpu: "2" } },
  { clusterName: "oslo", hard: { cpu: "1" } },
];
const quota = (
  staticAssignments: FederatedResourceQuota["spec"]["staticAssignments"],
  deletionTimestamp?: string,
): FederatedResourceQuota => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "FederatedResourceQuota",
  metadata: { name: "shop", namespace: "shop", deletionTimestamp },
  spec: { overall: { cpu: "10" }, staticAssignments },
});
const work = (member: string, status: unknown): Work => ({
  apiVersion: "work.karmada.io/v1alpha1",
  kind: "Work",
  metadata: { name: "shop-1", namespace: `karmada-es-${member}` },
  spec: { workload: { manifests: [] } },
  status: {
    manifestStatuses: [{ identifier: { ordinal: 0, version: "v1", kind: "ResourceQuota" }, status }],
  } as Work["status"],
});

describe("the Works of a quota", () => {
  const cases: Record<string, { quota: FederatedResourceQuota; members: string[]; want: string[] }> = {
    "are one per member with an assignment": {
      quota: quota(assignments),
      members: ["paris", "oslo", "rome"],
      want: ["karmada-es-paris", "karmada-es-oslo"],
    },
    "leave out a member that has left": { quota: quota(assignments), members: ["oslo"], want: ["karmada-es-oslo"] },
    "are none without assignments": { quota: quota(undefined), members: ["oslo"], want: [] },
    "are none for a quota that is being deleted": {
      quota: quota(assignments, "2026-05-01T12:00:00Z"),
      members: ["oslo"],
      want: [],
    },
  };
  for (const [behaviour, { quota: given, members, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(planQuotaWorks(given, new Set(members)).map(({ metadata }) => metadata.namespace)).toEqual(want);
    });
});

describe("the aggregated status of a quota", () => {
  const cases: Record<string, { works: Work[]; want: unknown }> = {
    "has what each member reports, by name": {
      works: [work("paris", { used: { cpu: "500m" } }), work("oslo", { used: { cpu: "0" } })],
      want: [
        { clusterName: "oslo", hard: { cpu: "1" }, used: { cpu: "0" } },
        { clusterName: "paris", hard: { cpu: "2" }, used: { cpu: "500m" } },
      ],
    },
    "has no usage of a member that has reported nothing": {
      works: [work("paris", undefined)],
      want: [
        { clusterName: "oslo", hard: { cpu: "1" } },
        { clusterName: "paris", hard: { cpu: "2" } },
      ],
    },
    "ignores a status of an unexpected shape": {
      works: [work("paris", { used: "all" })],
      want: [
        { clusterName: "oslo", hard: { cpu: "1" } },
        { clusterName: "paris", hard: { cpu: "2" } },
      ],
    },
  };
  for (const [behaviour, { works, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(planAggregatedStatus(quota(assignments), works)).toEqual(want);
    });

  test("is unset without assignments", () => {
    expect(planAggregatedStatus(quota([]), [])).toBeUndefined();
  });
});
