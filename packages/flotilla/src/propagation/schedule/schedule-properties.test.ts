/** Properties that hold for every placement, fleet and history, independent of recordings. */
import { omitZero } from "@flotilla/base";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFleet } from "./fleet-view.ts";
import type { BindingSpecView, Placement } from "./framework.ts";
import type { ClusterView } from "./fleet-cluster.ts";
import { planSchedule, type SchedulePlan } from "./plan-schedule.ts";
import { scheduleCycle, type CycleResult } from "./schedule-cycle.ts";

const resource = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const divided = (more: object): Placement => ({ replicaScheduling: { replicaSchedulingType: "Divided", ...more } });
const DYNAMIC = divided({
  replicaDivisionPreference: "Weighted",
  weightPreference: { dynamicWeight: "AvailableReplicas" },
});
const AGGREGATED = divided({ replicaDivisionPreference: "Aggregated" });
const STATIC = divided({ replicaDivisionPreference: "Weighted" });

const aCluster = fc.record({
  region: fc.constantFrom("R1", "R2", "R3"),
  provider: fc.constantFrom("P1", "P2"),
  zones: fc.uniqueArray(fc.constantFrom("Z1", "Z2", "Z3", "Z4"), { minLength: 1, maxLength: 2 }),
  rack: fc.constantFrom("a", "b"),
  pods: fc.integer({ min: 0, max: 30 }),
  tainted: fc.boolean(),
  leaving: fc.integer({ min: 0, max: 9 }).map((chance) => chance === 0),
});
const aFleet = fc.array(aCluster, { minLength: 1, maxLength: 15 }).map((rows) =>
  rows.map(({ region, provider, zones, rack, pods, tainted, leaving }, index): ClusterView => ({
    metadata: { name: `m${index}`, labels: { rack }, deletionTimestamp: leaving ? "2024-05-01T00:00:00Z" : undefined },
    spec: { region, provider, zones, taints: tainted ? [{ key: "maint", effect: "NoSchedule" }] : undefined },
    status: {
      apiEnablements: [{ groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] }],
      resourceSummary: { allocatable: { pods: `${pods}` } },
    },
  })),
);
const limits = fc
  .record({ minGroups: fc.integer({ min: 1, max: 3 }), extra: fc.integer({ min: 0, max: 3 }) })
  .map(({ minGroups, extra }) => ({ minGroups, maxGroups: minGroups + extra }));
const constraints = fc
  .uniqueArray(
    fc.constantFrom(
      { spreadByField: "region" as const },
      { spreadByField: "zone" as const },
      { spreadByField: "provider" as const },
      { spreadByLabel: "rack" },
    ),
    { maxLength: 3 },
  )
  .chain((kinds) =>
    fc.tuple(
      ...[...kinds, { spreadByField: "cluster" as const }].map((kind) =>
        limits.map((limit) => ({ ...kind, ...limit })),
      ),
    ),
  );
const aPlacement = fc
  .record({
    base: fc.constantFrom(DYNAMIC, AGGREGATED, STATIC, {}),
    spread: fc.option(constraints, { nil: undefined }),
  })
  .map(({ base, spread }): Placement => ({ ...base, ...omitZero({ spreadConstraints: spread }) }));
const previous = fc.uniqueArray(
  fc.record({
    name: fc.integer({ min: 0, max: 15 }).map((index) => `m${index}`),
    replicas: fc.integer({ min: 1, max: 9 }),
  }),
  { maxLength: 5, selector: ({ name }) => name },
);

function cycle(
  placement: Placement,
  clusters: readonly ClusterView[],
  replicas: number,
  before: BindingSpecView["clusters"] = [],
): CycleResult {
  return scheduleCycle({
    spec: { resource, replicas, placement, clusters: before },
    affinity: undefined,
    fleet: createFleet(clusters),
  });
}

const sumOf = (clusters: readonly { replicas?: number }[]): number =>
  clusters.reduce((sum, { replicas = 0 }) => sum + replicas, 0);
const isDivided = ({ replicaScheduling }: Placement): boolean => replicaScheduling?.replicaSchedulingType === "Divided";

describe("a scheduling cycle", () => {
  test("divides exactly the replicas, none negative, over fitting clusters", () => {
    fc.assert(
      fc.property(
        aPlacement,
        aFleet,
        fc.integer({ min: 1, max: 60 }),
        previous,
        (placement, clusters, replicas, before) => {
          const result = cycle(placement, clusters, replicas, before);
          fc.pre(result.ok);

          expect(sumOf(result.clusters)).toBe(isDivided(placement) ? replicas : replicas * result.clusters.length);
          for (const { name, replicas: share = 0 } of result.clusters) {
            const { leaving, spec } = createFleet(clusters).clusters.find((cluster) => cluster.name === name) ?? {
              leaving: true,
            };
            expect(share).toBeGreaterThan(0);
            expect(leaving).toBe(false);
            expect(spec?.taints === undefined || before.some((target) => target.name === name)).toBe(true);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("does not depend on list order", () => {
    fc.assert(
      fc.property(
        aPlacement,
        aFleet,
        fc.integer({ min: 0, max: 60 }),
        previous,
        (placement, clusters, replicas, before) => {
          expect(cycle(placement, clusters.toReversed(), replicas, before)).toEqual(
            cycle(placement, clusters, replicas, before),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  test("gives every cluster of the fleet one verdict, and those of the result their share", () => {
    fc.assert(
      fc.property(aPlacement, aFleet, fc.integer({ min: 1, max: 60 }), (placement, clusters, replicas) => {
        const result = cycle(placement, clusters, replicas);

        expect(result.verdicts.map(({ cluster }) => cluster).sort()).toEqual(
          clusters.map(({ metadata }) => metadata.name).sort(),
        );
        const kept = result.verdicts.filter(({ replicas: share }) => share !== undefined);
        expect(kept.map(({ cluster, replicas: share }) => ({ name: cluster, replicas: share }))).toEqual(
          result.ok ? result.clusters : [],
        );
      }),
      { numRuns: 500 },
    );
  });

  test("satisfies the spread constraints", () => {
    fc.assert(
      fc.property(constraints, aFleet, (spreadConstraints, clusters) => {
        const result = cycle({ spreadConstraints }, clusters, 1);
        // Karmada accepts more regions than clusters, which no selection can satisfy.
        const region = spreadConstraints.find(
          (constraint) => "spreadByField" in constraint && constraint.spreadByField === "region",
        );
        fc.pre(result.ok);
        fc.pre(!region || region.minGroups <= (spreadConstraints.at(-1)?.maxGroups ?? 0));

        const chosen = clusters.filter(({ metadata }) => result.clusters.some(({ name }) => name === metadata.name));
        for (const constraint of spreadConstraints) {
          const groups = new Set(
            chosen.flatMap(({ metadata, spec }) => {
              if (!("spreadByField" in constraint)) return [metadata.labels?.["rack"]];
              return {
                region: [spec?.region],
                zone: [...(spec?.zones ?? [])],
                provider: [spec?.provider],
                cluster: [metadata.name],
              }[constraint.spreadByField ?? "cluster"];
            }),
          );
          expect(groups.size).toBeGreaterThanOrEqual(constraint.minGroups);
          expect(groups.size).toBeLessThanOrEqual(constraint.maxGroups);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("uses all room of the fleet without spread constraints", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(DYNAMIC, AGGREGATED),
        aFleet,
        fc.integer({ min: 1, max: 200 }),
        (placement, clusters, replicas) => {
          const room = clusters
            .filter(({ metadata, spec }) => !metadata.deletionTimestamp && !spec?.taints)
            .reduce((sum, { status }) => sum + Number(status?.resourceSummary?.allocatable?.["pods"]), 0);
          const isPossible = room >= replicas;

          expect(cycle(placement, clusters, replicas).ok).toBe(isPossible);
        },
      ),
    );
  });
});

describe("dynamic and aggregated division is steady", () => {
  /** Every cluster stays and has the room that it needs. */
  const calm = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 12 }).map((rooms) =>
    rooms.map((pods, index): ClusterView => ({
      metadata: { name: `m${index}` },
      status: {
        apiEnablements: [{ groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] }],
        resourceSummary: { allocatable: { pods: `${pods}` } },
      },
    })),
  );
  const history = fc.tuple(
    fc.constantFrom(DYNAMIC, AGGREGATED),
    calm,
    fc.integer({ min: 1, max: 60 }),
    fc.integer({ min: 1, max: 60 }),
  );
  const shareOf = (result: Extract<CycleResult, { ok: true }>, name: string): number =>
    result.clusters.find((cluster) => cluster.name === name)?.replicas ?? 0;

  test("scaling up takes nothing from a cluster, scaling down adds nothing to one", () => {
    fc.assert(
      fc.property(history, ([placement, clusters, first, second]) => {
        const before = cycle(placement, clusters, first);
        fc.pre(before.ok);
        const after = cycle(placement, clusters, second, before.clusters);
        fc.pre(after.ok);

        const changes = clusters.map(({ metadata: { name } }) => shareOf(after, name) - shareOf(before, name));
        expect(changes.filter((change) => (second >= first ? change < 0 : change > 0))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  test("unchanged replicas change nothing", () => {
    fc.assert(
      fc.property(history, ([placement, clusters, replicas]) => {
        const before = cycle(placement, clusters, replicas);
        fc.pre(before.ok);

        expect(cycle(placement, clusters, replicas, before.clusters)).toMatchObject({
          ok: true,
          clusters: before.clusters,
        });
      }),
    );
  });
});

test("a scheduled binding is not scheduled again, or with the same result", () => {
  fc.assert(
    fc.property(aPlacement, aFleet, fc.integer({ min: 0, max: 60 }), (placement, clusters, replicas) => {
      const spec: BindingSpecView = { resource, replicas, placement };
      const first: SchedulePlan = planSchedule({ binding: { metadata: {}, spec }, clusters });
      fc.pre(first.outcome === "scheduled");
      const annotations = { "policy.karmada.io/applied-placement": JSON.stringify(placement) };
      const again = planSchedule({
        binding: { metadata: { annotations }, spec: { ...spec, clusters: first.clusters } },
        clusters,
      });

      expect(again.outcome === "unchanged" ? { ...again, clusters: first.clusters } : again).toMatchObject({
        clusters: first.clusters,
      });
    }),
    { numRuns: 500 },
  );
});
