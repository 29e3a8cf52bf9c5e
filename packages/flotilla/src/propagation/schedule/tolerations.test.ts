import { describe, expect, test } from "vitest";
import {
  findUntoleratedTaint,
  formatTaint,
  matchingTolerations,
  minTolerationMs,
  toleratesTaint,
  type Taint,
  type Toleration,
} from "./tolerations.ts";

const maintenance: Taint = { key: "maint", value: "yes", effect: "NoExecute", timeAdded: "2024-05-01T00:00:00Z" };

describe("a toleration", () => {
  const cases: Record<string, { toleration: Toleration; want: boolean }> = {
    "matches key and value": { toleration: { key: "maint", value: "yes" }, want: true },
    "defaults to Equal without an operator": { toleration: { key: "maint", value: "no" }, want: false },
    "ignores the value with Exists": { toleration: { key: "maint", operator: "Exists" }, want: true },
    "without key matches every key": { toleration: { operator: "Exists" }, want: true },
    "with an effect matches only that effect": {
      toleration: { operator: "Exists", effect: "NoSchedule" },
      want: false,
    },
    "with an operator that clusters do not support matches nothing": {
      toleration: { key: "maint", operator: "Lt", value: "yes" },
      want: false,
    },
  };
  for (const [behaviour, { toleration, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(toleratesTaint(toleration, maintenance)).toBe(want);
    });
  }
});

test("a taint with PreferNoSchedule excludes no cluster", () => {
  const soft: Taint = { key: "soft", effect: "PreferNoSchedule" };

  expect(findUntoleratedTaint([soft], [])).toBeUndefined();
  expect(findUntoleratedTaint([soft, maintenance], [])).toEqual(maintenance);
});

test("formats taints with value and effect if present", () => {
  expect(formatTaint(maintenance)).toBe("maint=yes:NoExecute");
  expect(formatTaint({ key: "maint", effect: "NoSchedule" })).toBe("maint:NoSchedule");
});

test("every taint needs a matching toleration", () => {
  const other: Taint = { key: "b", effect: "NoExecute" };
  const tolerations: Toleration[] = [{ key: "maint", operator: "Exists" }];

  expect(matchingTolerations([maintenance], tolerations)).toEqual(tolerations);
  expect(matchingTolerations([maintenance, other], tolerations)).toBeUndefined();
});

describe("the remaining toleration time", () => {
  const now = Date.parse("2024-05-01T00:01:00Z");
  const cases: Record<string, { taints: Taint[]; tolerations: Toleration[]; want: number }> = {
    "is unlimited without taints": { taints: [], tolerations: [], want: Infinity },
    "is zero without tolerations": { taints: [maintenance], tolerations: [], want: 0 },
    "is unlimited when no toleration has a limit": {
      taints: [maintenance],
      tolerations: [{ operator: "Exists" }],
      want: Infinity,
    },
    "starts when the taint was added": {
      taints: [maintenance],
      tolerations: [{ operator: "Exists", tolerationSeconds: 300 }],
      want: 240_000,
    },
    "is the shortest of several": {
      taints: [maintenance],
      tolerations: [
        { operator: "Exists", tolerationSeconds: 300 },
        { operator: "Exists", tolerationSeconds: 90 },
      ],
      want: 30_000,
    },
    "is never negative": {
      taints: [maintenance],
      tolerations: [{ operator: "Exists", tolerationSeconds: 5 }],
      want: 0,
    },
  };
  for (const [behaviour, { taints, tolerations, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(minTolerationMs(taints, tolerations, now)).toBe(want);
    });
  }
});

test("an expired toleration does not allow a workload again", () => {
  const taint = { key: "drain", effect: "NoExecute", timeAdded: "2024-05-01T12:00:00Z" } as const;
  const toleration = { key: "drain", operator: "Exists", tolerationSeconds: 60 } as const;

  expect(findUntoleratedTaint([taint], [toleration], Date.parse("2024-05-01T12:00:59Z"))).toBeUndefined();
  expect(findUntoleratedTaint([taint], [toleration], Date.parse("2024-05-01T12:01:00Z"))).toBe(taint);
});
