import { expect, test } from "vitest";
import { planAvailabilityTaints } from "./plan-availability-taints.ts";

const UNREACHABLE = { key: "cluster.open-cluster-management.io/unreachable", effect: "NoSelect" };
const UNAVAILABLE = { key: "cluster.open-cluster-management.io/unavailable", effect: "NoSelect" };
const OTHER = { key: "maintenance", effect: "NoSelect", timeAdded: "2024-05-01T12:00:00Z" };

const cases: Record<string, { taints: (typeof OTHER | typeof UNREACHABLE)[]; available?: string; want: unknown }> = {
  "a cluster that was never heard of is unreachable": { taints: [], want: [UNREACHABLE] },
  "a cluster that is not heard of any more is unreachable": {
    taints: [OTHER, UNAVAILABLE],
    available: "Unknown",
    want: [OTHER, UNREACHABLE],
  },
  "a cluster that is not well is unavailable": {
    taints: [UNREACHABLE, OTHER],
    available: "False",
    want: [OTHER, UNAVAILABLE],
  },
  "a cluster that is well has neither": { taints: [UNREACHABLE, OTHER, UNAVAILABLE], available: "True", want: [OTHER] },
  "a taint that is right stays as it is": {
    taints: [OTHER, { ...UNREACHABLE, timeAdded: "2024-05-01T12:00:00Z" }],
    available: "Unknown",
    want: undefined,
  },
  "nothing changes for a cluster that is well": { taints: [OTHER], available: "True", want: undefined },
};
for (const [behaviour, { taints, available, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(planAvailabilityTaints(taints, available)).toEqual(want);
  });
}
