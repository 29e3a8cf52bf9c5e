import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hasGrown, readCapacity, type MeasuredCluster } from "./capacity.ts";
import { estimateReplicas, readRequest } from "./estimate-replicas.ts";
import { estimateSets, readComponentSet } from "./estimate-sets.ts";

type Summary = NonNullable<NonNullable<MeasuredCluster["status"]>["resourceSummary"]>;
const cluster = (
  resourceSummary: Summary,
  resourceModels: NonNullable<MeasuredCluster["spec"]>["resourceModels"] = [],
): MeasuredCluster => ({ spec: { resourceModels }, status: { resourceSummary } });
const grades = [
  {
    grade: 0,
    ranges: [
      { name: "cpu", min: "0", max: "1" },
      { name: "memory", min: "0", max: "4Gi" },
    ],
  },
  {
    grade: 1,
    ranges: [
      { name: "cpu", min: "1", max: "2" },
      { name: "memory", min: "4Gi", max: "16Gi" },
    ],
  },
  {
    grade: 2,
    ranges: [
      { name: "cpu", min: "2", max: "9223372036854775807" },
      { name: "memory", min: "16Gi", max: "9223372036854775807" },
    ],
  },
];

describe("replicas that fit a member", () => {
  const room: Summary = {
    allocatable: { cpu: "16", memory: "64Gi", pods: "110" },
    allocated: { cpu: "3", memory: "4Gi", pods: "5" },
    allocating: { cpu: "250m", pods: "1" },
  };
  const cases: Record<string, { of: MeasuredCluster; request?: Record<string, string>; want: number }> = {
    "are limited by the scarcest resource": { of: cluster(room), request: { cpu: "5", memory: "1Gi" }, want: 2 },
    "are limited by free pods": { of: cluster(room), request: { cpu: "1m" }, want: 104 },
    "are all free pods without requirements": { of: cluster(room), want: 104 },
    "are all free pods with an empty request": { of: cluster(room), request: { cpu: "0" }, want: 104 },
    "are zero when the member reported no resources": { of: {}, request: { cpu: "1" }, want: 0 },
    "are zero when no pod is free": {
      of: cluster({ allocatable: { cpu: "16", pods: "5" }, allocated: { pods: "5" } }),
      request: { cpu: "1" },
      want: 0,
    },
    "are zero when usage exceeds capacity": {
      of: cluster({ allocatable: { cpu: "1", pods: "9" }, allocated: { cpu: "2" } }),
      request: { cpu: "1" },
      want: 0,
    },
    "are zero when the member lacks the resource": {
      of: cluster(room),
      request: { "nvidia.com/gpu": "1" },
      want: 0,
    },
    "are estimated by node where grades are reported": {
      of: cluster(
        {
          ...room,
          allocatableModelings: [
            { grade: 0, count: 9 },
            { grade: 1, count: 3 },
            { grade: 2, count: 1 },
          ],
        },
        grades,
      ),
      request: { cpu: "600m" },
      want: 6,
    },
    "are estimated by the sum where grades have no models": {
      of: cluster({ ...room, allocatableModelings: [{ grade: 1, count: 3 }] }),
      request: { cpu: "600m" },
      want: 21,
    },
    "are estimated by the sum where counts are invalid": {
      of: cluster({ ...room, allocatableModelings: [{ grade: 1, count: -3 }] }, grades),
      request: { cpu: "600m" },
      want: 21,
    },
    "ignore an invalid quantity of another resource": {
      of: cluster({ ...room, allocated: { cpu: "3", memory: "lots" } }),
      request: { cpu: "5" },
      want: 2,
    },
  };
  for (const [behaviour, { of, request, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(estimateReplicas(readCapacity(of), readRequest(request && { resourceRequest: request }))).toBe(want);
    });
  }

  test("never increase when more is requested or less is free", () => {
    const amount = fc.integer({ min: 1, max: 200 });
    fc.assert(
      fc.property(amount, amount, amount, amount, (free, less, asked, more) => {
        const replicas = (cpu: number, request: number): number =>
          estimateReplicas(
            readCapacity(cluster({ allocatable: { cpu: `${cpu}`, pods: "100" } })),
            readRequest({ resourceRequest: { cpu: `${request}` } }),
          );

        expect(replicas(Math.max(0, free - less), asked)).toBeLessThanOrEqual(replicas(free, asked));
        expect(replicas(free, asked + more)).toBeLessThanOrEqual(replicas(free, asked));
      }),
    );
  });
});

describe("sets of components that fit a member", () => {
  const components = (
    ...rows: [replicas: number, request: Record<string, string>][]
  ): Parameters<typeof readComponentSet>[0] =>
    rows.map(([replicas, resourceRequest], index) => ({
      name: `c${index}`,
      replicas,
      replicaRequirements: { resourceRequest },
    }));
  const room: Summary = { allocatable: { cpu: "16", memory: "16Gi", pods: "50" }, allocated: { cpu: "3", pods: "5" } };
  const cases: Record<string, { of: MeasuredCluster; set: ReturnType<typeof components>; want: number }> = {
    "need room for all replicas of every component": {
      of: cluster(room),
      set: components([1, { cpu: "1" }], [3, { cpu: "1" }]),
      want: 3,
    },
    "treat decimal and binary quantities alike": {
      of: cluster(room),
      set: components([3, { memory: "100M" }], [2, { memory: "3Gi" }]),
      want: 2,
    },
    "are limited by free pods": { of: cluster(room), set: components([20, {}]), want: 2 },
    "equal the free pods without components": { of: cluster(room), set: components(), want: 45 },
    "are zero when the member reported no resources": { of: {}, set: components([1, {}]), want: 0 },
    "are placed on nodes where grades are reported": {
      of: cluster(
        {
          ...room,
          allocatableModelings: [
            { grade: 1, count: 2 },
            { grade: 2, count: 1 },
          ],
        },
        grades,
      ),
      set: components([1, { cpu: "1" }], [1, { cpu: "600m" }]),
      want: 2,
    },
    "continue at the node where a component stopped": {
      of: cluster({ ...room, allocatableModelings: [{ grade: 2, count: 3 }] }, grades),
      set: components([2, { cpu: "1" }]),
      want: 3,
    },
  };
  for (const [behaviour, { of, set, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(estimateSets(readCapacity(of), readComponentSet(set))).toBe(want);
    });
  }
});

describe("the capacity of a member has grown", () => {
  const before = readCapacity(cluster({ allocatable: { cpu: "8", pods: "10" }, allocated: { cpu: "4" } }));
  const cases: Record<string, { after: Summary; want: boolean }> = {
    "when more is free": { after: { allocatable: { cpu: "8", pods: "10" }, allocated: { cpu: "3" } }, want: true },
    "when it has a new resource": {
      after: { allocatable: { cpu: "8", pods: "10", "nvidia.com/gpu": "1" }, allocated: { cpu: "4" } },
      want: true,
    },
    "when a node of some grade was added": {
      after: {
        allocatable: { cpu: "8", pods: "10" },
        allocated: { cpu: "4" },
        allocatableModelings: [{ grade: 1, count: 1 }],
      },
      want: true,
    },
    "not when less is free": { after: { allocatable: { cpu: "8", pods: "10" }, allocated: { cpu: "5" } }, want: false },
    "not when an unchanged status is reported again": {
      after: { allocatable: { cpu: "8000m", pods: "10" }, allocated: { cpu: "4" } },
      want: false,
    },
  };
  for (const [behaviour, { after, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(hasGrown(before, readCapacity(cluster(after, grades)))).toBe(want);
    });
  }

  test("the capacity of a member has grown when it reports for the first time", () => {
    expect(hasGrown(undefined, before)).toBe(true);
    expect(hasGrown(before, undefined)).toBe(false);
  });
});
