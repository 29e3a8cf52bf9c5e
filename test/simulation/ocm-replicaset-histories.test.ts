/**
 * Arbitrary changes of Placements, their decisions and the replica set (edited, deleted and recreated, decisions
 * deleted or emptied manually): a work that was desired all the time stays the same object, and so do its objects on
 * the member. In the end every chosen cluster has one.
 */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ConfigMap, Namespace } from "@flotilla/kubernetes";
import {
  ManagedCluster,
  ManagedClusterSetBinding,
  ManifestWork,
  ManifestWorkReplicaSet,
  OcmPlacement,
  PlacementDecision,
} from "@flotilla/ocm";
import type { OcmPlacementSpec } from "@flotilla/ocm";
import type { RolloutStrategy } from "@flotilla/apimachinery/facts/cluster-ocm-v1alpha1.ts";
import { find } from "@flotilla/client";
import { HUB, isNotFound } from "@flotilla/apimachinery";
import { startTestFleet, type TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { runs } from "@flotilla/testing/runs.ts";

const NAMESPACE = "shop";
const MEMBERS = ["member1", "member2", "member3"];
const PLACEMENTS = ["pa", "pb"];
const WEB = { cluster: HUB, namespace: NAMESPACE, name: "web" };
const RUNS = runs(12);
const QUIET_MS = 5 * 60_000;

type Step =
  | { do: "choose"; placement: string; clusters: string[]; perGroup: number | "100%" }
  | { do: "drop"; placement: string }
  | { do: "again"; placement: string }
  | { do: "forget"; placement: string; how: "delete" | "empty" }
  | { do: "refer"; placements: readonly string[] }
  | { do: "template"; version: number }
  | { do: "run"; ms: number };

const placement = fc.constantFrom(...PLACEMENTS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("choose" as const),
      placement,
      clusters: fc.subarray(MEMBERS),
      perGroup: fc.constantFrom(1 as const, 2 as const, "100%" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("drop" as const), placement }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("again" as const), placement }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("forget" as const),
      placement,
      how: fc.constantFrom("delete" as const, "empty" as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("refer" as const),
      placements: fc.constantFrom(["pa"], ["pb"], ["pa", "pb"], ["pb", "pa"], ["pa", "pa"]),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("template" as const), version: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("run" as const), ms: fc.constantFrom(1, 50, 2_000, 60_000) }) },
);
/** The set references a Placement whose decisions are for an earlier spec. */
const REFERRED_TOO_EARLY: Step[] = [
  { do: "refer", placements: ["pb"] },
  { do: "choose", placement: "pa", clusters: [], perGroup: 1 },
  { do: "choose", placement: "pa", clusters: ["member3"], perGroup: 1 },
  { do: "refer", placements: ["pa"] },
  { do: "run", ms: 1 },
];
const strategies: RolloutStrategy[] = [
  { type: "All" },
  { type: "Progressive", progressive: { maxConcurrency: 1 } },
  { type: "ProgressivePerGroup" },
];

test("after any history a work that was desired all the time is the same object", { timeout: 180_000 }, async () => {
  const histories = fc.asyncProperty(
    fc.constantFrom(...strategies),
    fc.array(step, { minLength: 5, maxLength: 25 }),
    play,
  );

  await expect(
    fc.assert(histories, { seed: 7, numRuns: RUNS, examples: [[{ type: "All" }, REFERRED_TOO_EARLY]] }),
  ).resolves.toBeUndefined();
});

const selecting = (clusters: readonly string[], perGroup: number | "100%"): OcmPlacementSpec => ({
  predicates: [
    {
      requiredClusterSelector: {
        labelSelector: {
          matchExpressions: [
            { key: "who", operator: "In", values: clusters.length > 0 ? [...clusters] : ["no-cluster"] },
          ],
        },
      },
    },
  ],
  decisionStrategy: { groupStrategy: { clustersPerDecisionGroup: perGroup } },
});

/** The last requested state: the clusters of each existing Placement, and the Placements of the set. */
interface Asked {
  specs: Map<string, { clusters: readonly string[]; perGroup: number | "100%" }>;
  refers: readonly string[];
}

/**
 * The Placement of each cluster that should have a work; undefined while a Placement is missing, and everything stays.
 */
function homesOf({ specs, refers }: Asked): Map<string, string> | undefined {
  if (refers.some((name) => !specs.has(name))) return undefined;
  return new Map(
    refers
      .toReversed()
      .flatMap((name) => (specs.get(name)?.clusters ?? []).map((cluster): [string, string] => [cluster, name])),
  );
}

async function play(rolloutStrategy: RolloutStrategy, steps: readonly Step[]): Promise<void> {
  const fleet = await startTestFleet({ members: MEMBERS });
  try {
    const asked: Asked = {
      specs: new Map(PLACEMENTS.map((name) => [name, { clusters: MEMBERS, perGroup: "100%" as const }])),
      refers: ["pa"],
    };
    await prepare(fleet, asked, rolloutStrategy);
    let kept = await identitiesOf(fleet);
    expect([...kept.keys()]).toEqual(MEMBERS);
    for (const each of steps) {
      await carryOut(fleet, asked, rolloutStrategy, each);
      const homes = homesOf(asked);
      for (const cluster of homes ? [...kept.keys()].filter((name) => !homes.has(name)) : []) kept.delete(cluster);
      if (each.do !== "run") continue;
      const now = await identitiesOf(fleet);
      for (const [cluster, identity] of kept)
        expect(now.get(cluster), `${cluster} after ${JSON.stringify(steps.slice(0, steps.indexOf(each) + 1))}`).toEqual(
          identity,
        );
      kept = new Map([...now].filter(([cluster]) => !homes || homes.has(cluster)));
    }
    await fleet.run(QUIET_MS);
    const homes = homesOf(asked);
    expect(homes && (await placementsByCluster(fleet))).toEqual(homes && Object.fromEntries(homes));
    fleet.resetWrites();
    await fleet.run(QUIET_MS);
    expect(fleet.writes().filter(({ part }) => part === "replicaset" || part === "placement")).toEqual([]);
  } finally {
    await fleet.stop();
  }
}

const makePlacement = (fleet: TestFleet, { specs }: Asked, name: string): Promise<unknown> => {
  const { clusters, perGroup } = specs.get(name) ?? { clusters: MEMBERS, perGroup: "100%" as const };
  specs.set(name, { clusters, perGroup });
  return fleet.client.create(OcmPlacement, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1beta1",
    kind: "Placement",
    metadata: { name, namespace: NAMESPACE },
    spec: selecting(clusters, perGroup),
  });
};

async function prepare(fleet: TestFleet, asked: Asked, rolloutStrategy: RolloutStrategy): Promise<void> {
  const { client } = fleet;
  await client.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  await client.create(ManagedClusterSetBinding, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1beta2",
    kind: "ManagedClusterSetBinding",
    metadata: { name: "default", namespace: NAMESPACE },
    spec: { clusterSet: "default" },
  });
  await fleet.run(20_000);
  for (const name of MEMBERS)
    await client.patch(
      ManagedCluster,
      { cluster: HUB, name },
      { metadata: { labels: { who: name } } },
      { type: "merge" },
    );
  for (const name of PLACEMENTS) await makePlacement(fleet, asked, name);
  await client.create(ManifestWorkReplicaSet, HUB, {
    apiVersion: "work.open-cluster-management.io/v1alpha1",
    kind: "ManifestWorkReplicaSet",
    metadata: { name: WEB.name, namespace: NAMESPACE },
    spec: {
      cascadeDeletionPolicy: "Background",
      manifestWorkTemplate: templateOf(0),
      placementRefs: referencesTo(asked.refers, rolloutStrategy),
    },
  });
  await fleet.run(60_000);
}

const templateOf = (version: number) => ({
  workload: {
    manifests: [
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "web", namespace: "default" },
        data: { version: String(version) },
      },
    ],
  },
});
const referencesTo = (names: readonly string[], rolloutStrategy: RolloutStrategy) =>
  names.map((name) => ({ name, rolloutStrategy }));

async function carryOut(fleet: TestFleet, asked: Asked, rolloutStrategy: RolloutStrategy, each: Step): Promise<void> {
  const { client } = fleet;
  switch (each.do) {
    case "choose": {
      const { placement: name, clusters, perGroup } = each;
      if (!asked.specs.has(name)) return;
      asked.specs.set(name, { clusters, perGroup });
      await client.patch(
        OcmPlacement,
        { cluster: HUB, namespace: NAMESPACE, name },
        { spec: selecting(clusters, perGroup) } as never,
        { type: "merge" },
      );
      return;
    }
    case "drop":
      if (asked.specs.delete(each.placement))
        await client.delete(OcmPlacement, { cluster: HUB, namespace: NAMESPACE, name: each.placement });
      return;
    case "again":
      if (asked.specs.has(each.placement))
        await client.delete(OcmPlacement, { cluster: HUB, namespace: NAMESPACE, name: each.placement });
      await makePlacement(fleet, asked, each.placement);
      return;
    case "forget": {
      const key = { cluster: HUB, namespace: NAMESPACE, name: `${each.placement}-decision-1` };
      const forgotten =
        each.how === "delete"
          ? client.delete(PlacementDecision, key)
          : client.patch(
              PlacementDecision,
              key,
              { status: { decisions: [] } },
              { type: "merge", subresource: "status" },
            );
      await forgotten.catch((error: unknown) => {
        if (!isNotFound(error)) throw error; // It was deleted with its Placement.
      });
      return;
    }
    case "refer":
      asked.refers = [...new Set(each.placements)];
      await client.patch(
        ManifestWorkReplicaSet,
        WEB,
        { spec: { placementRefs: referencesTo(each.placements, rolloutStrategy) } } as never,
        { type: "merge" },
      );
      return;
    case "template":
      await client.patch(
        ManifestWorkReplicaSet,
        WEB,
        { spec: { manifestWorkTemplate: templateOf(each.version) } },
        { type: "merge" },
      );
      return;
    case "run":
      await fleet.settle();
      await fleet.run(each.ms);
  }
}

const worksOf = async (fleet: TestFleet) =>
  (await fleet.client.list(ManifestWork, { cluster: HUB })).items.filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );

/** The work of each cluster, and its object there. */
async function identitiesOf(fleet: TestFleet): Promise<Map<string, { work: unknown; object: unknown }>> {
  const found = new Map<string, { work: unknown; object: unknown }>();
  for (const { metadata } of await worksOf(fleet)) {
    const cluster = metadata.namespace ?? "";
    const object = await find(fleet.client, ConfigMap, { cluster, namespace: "default", name: "web" });
    // A work in flight has applied nothing yet.
    if (object) found.set(cluster, { work: metadata.uid, object: object.metadata.uid });
  }
  return new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The Placement of each cluster's work. */
const placementsByCluster = async (fleet: TestFleet): Promise<Record<string, unknown>> =>
  Object.fromEntries(
    (await worksOf(fleet))
      .map(({ metadata }): [string, unknown] => [
        metadata.namespace ?? "",
        metadata.labels?.["work.open-cluster-management.io/placementname"],
      ])
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
