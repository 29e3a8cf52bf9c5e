/**
 * A ManifestWorkReplicaSet over simulated members: there is no rule about progress, and the rollout continues as
 * workloads become ready.
 */
import { beforeEach, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { ManagedClusterSetBinding, ManifestWorkReplicaSet, OcmPlacement } from "@flotilla/ocm";
import { Namespace } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import { find } from "@flotilla/client";
import { findCondition } from "@flotilla/apimachinery";
import { deployment, HUB, startWorkFleet, type WorkFleet } from "./ocm-work-fleet.ts";

const MEMBERS = ["member1", "member2", "member3"];
let works: WorkFleet;

beforeEach(async () => {
  works = await startWorkFleet({ members: MEMBERS, nodes: 3 });
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
});

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

test("CloneSets are rolled out member by member", async () => {
  const { fleet } = works;
  await fleet.client.create(ManifestWorkReplicaSet, HUB, {
    apiVersion: "work.open-cluster-management.io/v1alpha1",
    kind: "ManifestWorkReplicaSet",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      manifestWorkTemplate: template("web:1"),
      placementRefs: [{ name: "all", rolloutStrategy: { type: "Progressive", progressive: { maxConcurrency: 1 } } }],
    },
  } as never);
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
