/**
 * ManifestWorkReplicaSets on a running hub: works follow the decisions of Placements, and a new template is rolled out
 * step by step.
 */
import { beforeEach, describe, expect, test } from "vitest";
import {
  CLUSTER_SET_LABEL,
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  ManifestWork,
  ManifestWorkReplicaSet,
  OcmPlacement,
  PlacementDecision,
} from "@flotilla/ocm";
import { Namespace } from "@flotilla/kubernetes";
import type { RolloutStrategy } from "@flotilla/apimachinery/facts/cluster-ocm-v1alpha1.ts";
import { formatTime } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { findCondition, HUB, isNotFound } from "@flotilla/apimachinery";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet, type TestFleet } from "@flotilla/testing/fleet/fleet.ts";

const CLUSTERS = ["c1", "c2", "c3"];
let fleet: TestFleet;

beforeEach(async () => {
  fleet = endsWithTest(await startTestFleet({ members: [] }));
  const { client } = fleet;
  for (const name of ["shop", ...CLUSTERS])
    await client.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  await client.create(ManagedClusterSet, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1beta2",
    kind: "ManagedClusterSet",
    metadata: { name: "all" },
    spec: {},
  });
  await client.create(ManagedClusterSetBinding, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1beta2",
    kind: "ManagedClusterSetBinding",
    metadata: { name: "all", namespace: "shop" },
    spec: { clusterSet: "all" },
  });
  for (const name of CLUSTERS)
    await client.create(ManagedCluster, HUB, {
      apiVersion: "cluster.open-cluster-management.io/v1",
      kind: "ManagedCluster",
      metadata: { name, labels: { [CLUSTER_SET_LABEL]: "all" } },
      spec: { hubAcceptsClient: false },
    });
  // As their agents report them: a cluster without reports is tainted.
  const conditions = [
    {
      type: "ManagedClusterConditionAvailable",
      status: "True",
      reason: "ManagedClusterAvailable",
      message: "",
      lastTransitionTime: formatTime(fleet.clock.now()),
    },
  ];
  for (const name of CLUSTERS)
    await client.patch(
      ManagedCluster,
      { cluster: HUB, name },
      { status: { conditions } },
      { type: "merge", subresource: "status" },
    );
  await client.create(OcmPlacement, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1beta1",
    kind: "Placement",
    metadata: { name: "all", namespace: "shop" },
    spec: {},
  });
  await fleet.settle();
});

const manifests = (version: string) => [
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web", namespace: "default" }, data: { version } },
];
const roll = async (rolloutStrategy: RolloutStrategy): Promise<void> => {
  await fleet.client.create(ManifestWorkReplicaSet, HUB, {
    apiVersion: "work.open-cluster-management.io/v1alpha1",
    kind: "ManifestWorkReplicaSet",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      cascadeDeletionPolicy: "Background",
      manifestWorkTemplate: { workload: { manifests: manifests("1") } },
      placementRefs: [{ name: "all", rolloutStrategy }],
    },
  });
  await fleet.settle();
};
const works = async () => (await fleet.client.list(ManifestWork, { cluster: HUB })).items;
/** Clusters with a work, and its version. */
const versions = async (): Promise<Record<string, unknown>> =>
  Object.fromEntries(
    (await works()).map(({ metadata, spec }) => [
      metadata.namespace,
      (spec.workload?.manifests?.[0]?.["data"] as { version: string } | undefined)?.version,
    ]),
  );
/** The status that the cluster's agent would report. */
async function report(cluster: string): Promise<void> {
  const work = (await works()).find(({ metadata }) => metadata.namespace === cluster);
  if (!work) throw new Error(`no work in ${cluster}`);
  const conditions = ["Applied", "Available"].map((type) => ({
    type,
    status: "True" as const,
    reason: "Test",
    message: "",
    observedGeneration: work.metadata.generation ?? 0,
    lastTransitionTime: formatTime(fleet.clock.now()),
  }));
  await fleet.client.patch(
    ManifestWork,
    { cluster: HUB, namespace: cluster, name: work.metadata.name },
    { status: { conditions } },
    { type: "merge", subresource: "status" },
  );
  await fleet.settle();
}

test("a new template reaches the next cluster when the previous one succeeded for the minimum success time", async () => {
  await roll({ type: "Progressive", progressive: { maxConcurrency: 1, minSuccessTime: "1m" } });
  for (const cluster of CLUSTERS) {
    await report(cluster);
    await fleet.run(61_000);
  }
  expect(await versions()).toEqual({ c1: "1", c2: "1", c3: "1" });

  await fleet.client.patch(
    ManifestWorkReplicaSet,
    { cluster: HUB, namespace: "shop", name: "web" },
    { spec: { manifestWorkTemplate: { workload: { manifests: manifests("2") } } } },
    { type: "merge" },
  );
  await fleet.settle();
  expect(await versions()).toEqual({ c1: "2", c2: "1", c3: "1" });

  await report("c1");
  await fleet.run(30_000);
  expect(await versions()).toEqual({ c1: "2", c2: "1", c3: "1" });

  await fleet.run(31_000);
  expect(await versions()).toEqual({ c1: "2", c2: "2", c3: "1" });
});

test("the set reports when all clusters have it, and writes nothing after that", async () => {
  await roll({ type: "All" });
  for (const cluster of CLUSTERS) await report(cluster);

  const { status } = await fleet.client.get(ManifestWorkReplicaSet, { cluster: HUB, namespace: "shop", name: "web" });
  expect(findCondition(status?.conditions, "PlacementRolledOut")?.status).toBe("True");
  expect(status?.summary).toMatchObject({ total: 3, applied: 3, available: 3 });
  fleet.resetWrites();
  await fleet.run(600_000);
  expect(fleet.writes().filter(({ part }) => part === "replicaset")).toEqual([]);
});

test("a deselected cluster loses its work, and a deleted set loses all of them", async () => {
  await roll({ type: "All" });

  await fleet.client.patch(
    ManagedCluster,
    { cluster: HUB, name: "c2" },
    { spec: { taints: [{ key: "full", effect: "NoSelect" }] } },
    { type: "merge" },
  );
  await fleet.settle();
  expect(
    (await works())
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.namespace),
  ).toEqual(["c1", "c3"]);

  await fleet.client.delete(ManifestWorkReplicaSet, { cluster: HUB, namespace: "shop", name: "web" });
  await fleet.settle();
  // There is no agent to remove the applied objects, so the works wait for one.
  expect((await works()).filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toEqual([]);
  await expect(
    fleet.client.get(ManifestWorkReplicaSet, { cluster: HUB, namespace: "shop", name: "web" }),
  ).rejects.toSatisfy(isNotFound);
});

describe("works stay the same objects", () => {
  const PLACEMENT = { cluster: HUB, namespace: "shop", name: "all" };
  const place = (name: string, spec = {}) =>
    fleet.client.create(OcmPlacement, HUB, {
      apiVersion: "cluster.open-cluster-management.io/v1beta1",
      kind: "Placement",
      metadata: { name, namespace: "shop" },
      spec,
    });
  const refer = async (...names: string[]): Promise<void> => {
    await fleet.client.patch(
      ManifestWorkReplicaSet,
      { cluster: HUB, namespace: "shop", name: "web" },
      { spec: { placementRefs: names.map((name) => ({ name })) } },
      { type: "merge" },
    );
    await fleet.settle();
  };
  const identities = async (): Promise<unknown[]> =>
    (await works())
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => `${metadata.namespace} ${metadata.name} ${metadata.uid}`);

  for (const strategy of [
    { type: "All" },
    { type: "Progressive", progressive: { maxConcurrency: 3 } },
  ] satisfies RolloutStrategy[]) {
    test(`when their Placement is deleted and recreated (${strategy.type})`, async () => {
      await roll(strategy);
      const before = await identities();
      expect(before).toHaveLength(3);

      await fleet.client.delete(OcmPlacement, PLACEMENT);
      await fleet.run(10_000);
      expect(await identities()).toEqual(before);
      await place("all");
      await fleet.run(10_000);

      expect(await identities()).toEqual(before);
    });
  }

  for (const how of ["deleted", "emptied"] as const) {
    test(`when a decision is ${how} manually`, async () => {
      await roll({ type: "All" });
      const before = await identities();

      const key = { ...PLACEMENT, name: "all-decision-1" };
      if (how === "deleted") await fleet.client.delete(PlacementDecision, key);
      else
        await fleet.client.patch(
          PlacementDecision,
          key,
          { status: { decisions: [] } },
          { type: "merge", subresource: "status" },
        );
      await fleet.run(10_000);

      expect(await identities()).toEqual(before);
      expect((await fleet.client.get(PlacementDecision, key)).status?.decisions).toHaveLength(3);
    });
  }

  test("works stay the same objects when their Placement is referenced twice, and nothing is written afterwards", async () => {
    await roll({ type: "All" });
    const before = await identities();

    await refer("all", "all");
    fleet.resetWrites();
    await fleet.run(600_000);

    expect(await identities()).toEqual(before);
    expect(
      fleet.writes().filter(({ resource }) => resource === "manifestworks.work.open-cluster-management.io"),
    ).toEqual([]);
  });

  test("works stay the same objects when another Placement of the set chooses their cluster instead", async () => {
    await place("more");
    await roll({ type: "All" });
    const before = await identities();

    await refer("all", "more");
    await refer("more");
    await fleet.run(10_000);

    expect(await identities()).toEqual(before);
    expect(
      (await works()).map(({ metadata }) => metadata.labels?.["work.open-cluster-management.io/placementname"]),
    ).toEqual(["more", "more", "more"]);
  });
});

test("a work has the name of its set, unless another work has that name", async () => {
  await fleet.client.create(ManifestWork, HUB, {
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { name: "web", namespace: "c2" },
    spec: { workload: { manifests: manifests("theirs") } },
  });
  await fleet.settle();

  await roll({ type: "All" });

  const named = (await works())
    .map(
      ({ metadata, spec }) =>
        `${metadata.namespace}/${metadata.name} ${(spec.workload?.manifests?.[0]?.["data"] as { version: string } | undefined)?.version}`,
    )
    .toSorted();
  expect(named).toEqual(["c1/web 1", "c2/web theirs", expect.stringMatching(/^c2\/web[0-9a-f]{5} 1$/), "c3/web 1"]);
});

test("the summary names the clusters whose reports are stale, until they report again", async () => {
  // Without it, the Placement leaves a cluster that does not report.
  const tolerations = [{ key: "cluster.open-cluster-management.io/unreachable", operator: "Exists" }];
  await fleet.client.patch(
    OcmPlacement,
    { cluster: HUB, namespace: "shop", name: "all" },
    { spec: { tolerations } },
    { type: "merge" },
  );
  await roll({ type: "All" });
  for (const cluster of CLUSTERS) await report(cluster);
  const setAvailable = async (status: "True" | "Unknown"): Promise<void> => {
    const found = await fleet.client.get(ManagedCluster, { cluster: HUB, name: "c2" });
    const conditions = found.status?.conditions?.map((each) =>
      each.type === "ManagedClusterConditionAvailable" ? { ...each, status } : each,
    );
    const change = { status: { conditions } } as unknown as Json;
    await fleet.client.patch(ManagedCluster, { cluster: HUB, name: "c2" }, change, {
      type: "merge",
      subresource: "status",
    });
    await fleet.settle();
  };
  const stale = async (): Promise<unknown> => {
    const { status } = await fleet.client.get(ManifestWorkReplicaSet, { cluster: HUB, namespace: "shop", name: "web" });
    const found = findCondition(status?.conditions, "Stale");
    return found && [found.status, found.message, status?.summary?.available];
  };

  const before = await stale();
  await setAvailable("Unknown");
  const during = await stale();
  await setAvailable("True");

  expect(before).toBeUndefined();
  expect(during).toEqual(["True", "the summary has the last reports of c2 (not reporting)", 3]);
  expect(await stale()).toEqual(["False", "Every cluster reports its status", 3]);
});
