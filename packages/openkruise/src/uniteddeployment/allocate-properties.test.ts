/** Invariants of the replica allocation for every UnitedDeployment. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { UnitedDeployment } from "./uniteddeployment-kind.ts";
import { allocatePartitions, allocateReplicas } from "./allocate.ts";
import type { SizedSubset } from "./allocate.ts";
import { SCHEDULABLE } from "./subset.ts";

/** Fixed seed: the runs are reproducible. */
const RUNS = { seed: 20240501, numRuns: 200 };

type Subsets = NonNullable<NonNullable<UnitedDeployment["spec"]["topology"]>["subsets"]>;

const small = fc.integer({ min: 0, max: 12 });
const shares = fc.array(
  fc.option(
    fc.oneof(
      small,
      fc.integer({ min: 0, max: 100 }).map((percent) => `${percent}%`),
    ),
    { nil: undefined },
  ),
  { minLength: 1, maxLength: 6 },
);
/** The last subset has no upper limit, because the webhook requires one without. */
const limits = fc
  .array(fc.tuple(small, small), { minLength: 0, maxLength: 5 })
  .map((pairs): Subsets => [
    ...pairs.map(([a, b], index) => ({ name: `s${index}`, minReplicas: Math.min(a, b), maxReplicas: Math.max(a, b) })),
    { name: "last", minReplicas: 0 },
  ]);
const states = fc.array(
  fc.record({ specReplicas: small, ready: fc.double({ min: 0, max: 1, noNaN: true }), unschedulable: fc.boolean() }),
  { minLength: 6, maxLength: 6 },
);

function make(replicas: number, subsets: Subsets, scheduleStrategy: object = {}): UnitedDeployment {
  return {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "UnitedDeployment",
    metadata: { name: "ud" },
    spec: { replicas, selector: {}, topology: { subsets, scheduleStrategy } },
  };
}
const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, number) => total + number, 0);

function existing(
  subsets: Subsets,
  given: { specReplicas: number; ready: number; unschedulable: boolean }[],
): Map<string, SizedSubset> {
  return new Map(
    subsets.map(({ name }, index) => {
      const { specReplicas = 0, ready = 0, unschedulable = false } = given[index] ?? {};
      const readyReplicas = Math.floor(specReplicas * ready);
      return [
        name,
        {
          name,
          specReplicas,
          replicas: specReplicas,
          readyReplicas,
          schedulability: {
            ...SCHEDULABLE,
            unschedulable,
            reservedPods: unschedulable ? specReplicas - readyReplicas : 0,
          },
        },
      ];
    }),
  );
}

test("shares add up to the total, and given shares are kept", () => {
  fc.assert(
    fc.property(small, shares, states, (total, given, state) => {
      const subsets: Subsets = given.map((replicas, index) => ({ name: `s${index}`, replicas }));

      const allocation = allocateReplicas(make(total, subsets), existing(subsets, state));

      if ("problem" in allocation) return;
      expect(sum(allocation.replicas.values())).toBe(total);
      const fixed = subsets.filter(({ replicas }) => typeof replicas === "number");
      expect(fixed.map(({ name }) => allocation.replicas.get(name))).toEqual(fixed.map(({ replicas }) => replicas));
    }),
    RUNS,
  );
});

test("limits are respected and all replicas are allocated", () => {
  fc.assert(
    fc.property(small, limits, (total, subsets) => {
      const allocation = allocateReplicas(make(total, subsets), new Map());

      if ("problem" in allocation) throw new Error(allocation.problem);
      expect(sum(allocation.replicas.values())).toBe(total);
      expect(
        subsets.filter(
          ({ name, maxReplicas }) =>
            typeof maxReplicas === "number" && (allocation.replicas.get(name) ?? 0) > maxReplicas,
        ),
      ).toEqual([]);
    }),
    RUNS,
  );
});

test("an adaptive deployment gives an unschedulable subset no more than its running replicas", () => {
  fc.assert(
    fc.property(small, limits, states, (total, subsets, state) => {
      const there = existing(subsets, state);

      const allocation = allocateReplicas(make(total, subsets, { type: "Adaptive" }), there);

      if ("problem" in allocation) throw new Error(allocation.problem);
      expect(sum(allocation.replicas.values())).toBeLessThanOrEqual(total);
      const overfull = subsets.filter(({ name, minReplicas }) => {
        const { readyReplicas = 0, schedulability } = there.get(name) ?? {};
        return (
          schedulability?.unschedulable &&
          (allocation.replicas.get(name) ?? 0) > Math.max(readyReplicas, Number(minReplicas))
        );
      });
      expect(overfull).toEqual([]);
    }),
    RUNS,
  );
});

test("partitions never exceed the size of their subset", () => {
  fc.assert(
    fc.property(small, limits, fc.array(small, { minLength: 6, maxLength: 6 }), (total, subsets, wanted) => {
      const deployment = make(total, subsets);
      deployment.spec.updateStrategy = {
        type: "Manual",
        manualUpdate: { partitions: Object.fromEntries(subsets.map(({ name }, index) => [name, wanted[index] ?? 0])) },
      };
      const allocation = allocateReplicas(deployment, new Map());

      if ("problem" in allocation) throw new Error(allocation.problem);
      for (const [name, partition] of allocatePartitions(deployment, allocation.replicas))
        expect(partition).toBeLessThanOrEqual(allocation.replicas.get(name) ?? 0);
    }),
    RUNS,
  );
});
