import { expect, test } from "vitest";
import { planAvailabilityTaints } from "./plan-availability-taints.ts";

const UNREACHABLE = { key: "cluster.open-cluster-management.io/unreachable", effect: "NoSelect" };
const UNAVAILABLE = { key: "cluster.open-cluster-management.io/unavailable", effect: "NoSelect" };
const OTHER = { key: "maintenance", effect: "NoSelect", timeAdded: "2024-05-01T12:00:00Z" };

const cases: Record<string, { taints: (typeof OTHER | typeof UNREACHABLE)[]; available?: string; want: unknown }> = {
  "a cluster that never reported is unreachable": { taints: [], want: [UNREACHABLE] },
  "a cluster that stopped reporting is unreachable": {
    taints: [OTHER, UNAVAILABLE],
    available: "Unknown",
    want: [OTHER, UNREACHABLE],
  },
  "an unhealthy cluster is unavailable": {
    taints: [UNREACHABLE, OTHER],
    available: "False",
    want: [OTHER, UNAVAILABLE],
  },
  "a healthy cluster has neither taint": {
    taints: [UNREACHABLE, OTHER, UNAVAILABLE],
    available: "True",
    want: [OTHER],
  },
  "a correct taint is kept unchanged": {
    taints: [OTHER, { ...UNREACHABLE, timeAdded: "2024-05-01T12:00:00Z" }],
    available: "Unknown",
    want: undefined,
  },
  "nothing changes for a healthy cluster": { taints: [OTHER], available: "True", want: undefined },
};
for (const [behaviour, { taints, available, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(planAvailabilityTaints(taints, available)).toEqual(want);
  });
}
