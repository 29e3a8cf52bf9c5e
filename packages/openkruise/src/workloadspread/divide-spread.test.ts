import { expect, test } from "vitest";
import { defined } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { divideLimits, divideSpread, type DividedSpread } from "./divide-spread.ts";

const spread = (maxReplicas: (number | string | undefined)[], kind = "CloneSet"): DividedSpread => ({
  apiVersion: "apps.kruise.io/v1alpha1",
  kind: "WorkloadSpread",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    targetRef: { apiVersion: "apps.kruise.io/v1beta1", kind, name: "web" },
    subsets: maxReplicas.map((max, index) => ({
      name: `s${index}`,
      ...defined({ maxReplicas: max }),
    })),
  },
});
const shares = (isWhole: boolean, ...sizes: number[]): Share[] =>
  sizes.map((replicas, index) => ({
    cluster: `m${index}`,
    replicas: 0,
    workloads: { replicas, unsettled: 0, isWhole },
  }));
const limitsOf = (copies: ReadonlyMap<string, { spec?: DividedSpread["spec"] }>): unknown[] =>
  Array.from(copies.values(), ({ spec }) => spec?.subsets?.map(({ maxReplicas }) => maxReplicas));

const cases: Record<string, { spread: DividedSpread; shares: Share[]; want: unknown[] }> = {
  "limits are divided in the proportion of the workload": {
    spread: spread([3, undefined]),
    shares: shares(false, 4, 2),
    want: [
      [2, undefined],
      [1, undefined],
    ],
  },
  "a percentage is copied": {
    spread: spread(["50%", "50%"]),
    shares: shares(false, 4, 2),
    want: [
      ["50%", "50%"],
      ["50%", "50%"],
    ],
  },
  "limits of a duplicated workload are copied": { spread: spread([3]), shares: shares(true, 4, 4), want: [[3], [3]] },
  "limits are copied while the workload is not on the hub": {
    spread: spread([3]),
    shares: [{ cluster: "m0", replicas: 0 }],
    want: [[3]],
  },
  "limits of an Advanced StatefulSet are ordinals of the fleet and copied": {
    spread: spread([3], "StatefulSet"),
    shares: shares(false, 4, 2),
    want: [[3], [3]],
  },
};
for (const [behaviour, { spread: given, shares: members, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(limitsOf(divideSpread(given as never, members) as never)).toEqual(want);
  });
}

test("each member keeps room for its pods when limits are rounded", () => {
  expect(divideLimits([1, 1], [1, 1])).toEqual([
    [1, 0],
    [0, 1],
  ]);
  expect(divideLimits([5, 10], [4, 2])).toEqual([
    [3, 2],
    [7, 3],
  ]);
});
