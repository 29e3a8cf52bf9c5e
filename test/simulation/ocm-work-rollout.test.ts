/**
 * A ManifestWorkReplicaSet over simulated members: there is no rule about progress, and the rollout continues as
 * workloads become ready.
 */
import { expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { ManagedClusterSetBinding, ManifestWorkReplicaSet, OcmPlacement } from "@flotilla/ocm";
import { Namespace } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import { find } from "@flotilla/client";
import { findCondition, HUB } from "@flotilla/apimachinery";
import { createLastingEngine, type TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";
import { deployment, startWorkFleet, type WorkFleet } from "./ocm-work-fleet.ts";

const MEMBERS = ["member1", "member2", "member3"];
let works: WorkFleet;

const start = async (options: Partial<TestFleetOptions> = {}): Promise<void> => {
  works = await startWorkFleet({ members: MEMBERS, nodes: 3, ...options });
};

async function prepare(): Promise<void> {
  const { client } = works.fleet;
  await client.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(ManagedClusterSetBinding, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1beta2",
    kind: "ManagedClusterSetBinding",
    metadata: { name: "default", namespace: "shop" },
    spec: { clusterSet: "default" },
  });
  await client.create(OcmPlacement, HUB, {
    apiVersion: "cluster.open-cluster-management.io/v1beta1",
    kind: "Placement",
    metadata: { name: "all", namespace: "shop" },
    spec: {},
  });
  await works.fleet.run(5_000);
}

const template = (image: string): JsonObject => ({
  workload: {
    manifests: [
      {
        ...deployment("web", {
          template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image }] } },
        }),
        apiVersion: "apps.kruise.io/v1alpha1",
        kind: "CloneSet",
      },
    ],
  },
});
const images = async (): Promise<(string | undefined)[]> =>
  Promise.all(
    MEMBERS.map(
      async (cluster) =>
        (await find(works.fleet.client, CloneSet, { cluster, namespace: "default", name: "web" }))?.spec.template.spec
          ?.containers[0]?.image,
    ),
  );
const key = { cluster: HUB, namespace: "shop", name: "web" };

const createSet = async (rolloutStrategy: JsonObject): Promise<unknown> =>
  works.fleet.client.create(ManifestWorkReplicaSet, HUB, {
    apiVersion: "work.open-cluster-management.io/v1alpha1",
    kind: "ManifestWorkReplicaSet",
    metadata: { name: "web", namespace: "shop" },
    spec: { manifestWorkTemplate: template("web:1"), placementRefs: [{ name: "all", rolloutStrategy }] },
  } as never);

test("CloneSets are rolled out member by member", async () => {
  await start();
  await prepare();
  const { fleet } = works;
  await createSet({ type: "Progressive", progressive: { maxConcurrency: 1 } });
  await fleet.run(1_000);
  expect(await images()).toEqual(["web:1", undefined, undefined]);

  await fleet.run(60_000);
  expect(await images()).toEqual(["web:1", "web:1", "web:1"]);
  const { status } = await fleet.client.get(ManifestWorkReplicaSet, key);
  expect(findCondition(status?.conditions, "PlacementRolledOut")?.status).toBe("True");

  await fleet.client.patch(
    ManifestWorkReplicaSet,
    key,
    { spec: { manifestWorkTemplate: template("web:2") } },
    { type: "merge" },
  );
  await fleet.run(60_000);
  expect(await images()).toEqual(["web:2", "web:2", "web:2"]);
});

test("an object that the hub changes back and forth is no longer written until its set changes, also after a restart", async () => {
  const engine = createLastingEngine();
  await start({ engine });
  await prepare();
  await createSet({ type: "All" });
  await works.fleet.run(60_000);
  /** As a second client of the works does: the replica set restores them each time. */
  async function fight(times: number): Promise<(string | undefined)[]> {
    const seen: (string | undefined)[] = [];
    for (let time = 0; time < times; time++) {
      await works.patch("web", { spec: template("web:9") });
      await works.fleet.run(28_000);
      const [image] = await images();
      if (seen.at(-1) !== image) seen.push(image);
    }
    return seen;
  }

  await fight(8);
  expect(await works.manifestCondition("web", 0, "Applied")).toBe(
    "False Oscillating Failed to apply manifest: CloneSet web: the hub changed spec.template.spec.containers back and " +
      "forth 3 times within ten minutes, and no longer writes the object until ManifestWorkReplicaSet shop/web " +
      "(generation 1) changes",
  );
  const { clock } = works.fleet;
  await works.fleet.stop();
  await start({ engine, clock });
  expect(await fight(8)).toHaveLength(1);
  expect(await works.manifestCondition("web", 0, "Applied")).toContain("False Oscillating");

  await works.fleet.client.patch(
    ManifestWorkReplicaSet,
    key,
    { spec: { manifestWorkTemplate: template("web:2") } },
    { type: "merge" },
  );
  await works.fleet.run(60_000);
  expect(await images()).toEqual(["web:2", "web:2", "web:2"]);
  expect(await works.manifestCondition("web", 0, "Applied")).toContain("True");
});
