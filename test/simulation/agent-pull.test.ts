/** Pull members: an agent applies their Works and reports their status, and they become not ready when it stops. */
import { afterEach, expect, test } from "vitest";
import { Cluster, PropagationPolicy, ResourceBinding, Work } from "@flotilla/karmada";
import { ConfigMap, Deployment, Lease, Namespace } from "@flotilla/kubernetes";
import { ManagedCluster, ManifestWork } from "@flotilla/ocm";
import { find } from "@flotilla/client";
import { findCondition } from "@flotilla/apimachinery";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 60_000;

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(pull: "all" | string[]): Promise<void> {
  fleet = await startTestFleet({ members: ["member1", "member2"], pull, nodes: 2 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 2, member2: 1 }).build(),
  );
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(6).build());
  await fleet.run(SETTLED_MS);
}

test("a pull member gets its share, next to a push member, and its status is reported", async () => {
  await start(["member2"]);

  const { items } = await fleet.client.list(Cluster, { cluster: "hub" });
  expect(
    items.map(({ metadata, spec, status }) => [
      metadata.name,
      spec.syncMode,
      findCondition(status?.conditions ?? [], "Ready")?.status,
      status?.nodeSummary?.totalNum,
    ]),
  ).toEqual([
    ["member1", "Push", "True", 2],
    ["member2", "Pull", "True", 2],
  ]);
  expect(
    (await fleet.client.get(Deployment, { cluster: "member2", namespace: "shop", name: "web" })).spec.replicas,
  ).toBe(2);
  const managed = await fleet.client.get(ManagedCluster, { cluster: "hub", name: "member2" });
  expect(managed.status?.conditions.map(({ type, status }) => `${type} ${status}`)).toContain(
    "ManagedClusterConditionAvailable True",
  );
  expect(managed.status?.clusterClaims?.find(({ name }) => name === "id.k8s.io")?.value).toBe("member2");
  expect(
    (await fleet.client.get(Deployment, { cluster: "hub", namespace: "shop", name: "web" })).status?.readyReplicas,
  ).toBe(6);
});

test("the agent renews its two Leases and writes nothing else while nothing changes", async () => {
  await start("all");
  await fleet.run(5 * 60_000);
  fleet.resetWrites();

  await fleet.run(10 * 60_000);

  const writes = fleet
    .writes()
    .map(({ part, verb, resource, count }) => ({ what: `${part} ${verb} ${resource}`, count }));
  expect(writes).toEqual([
    {
      what: "lease update leases.coordination.k8s.io",
      count: expect.toSatisfy((count: number) => count >= 120 && count <= 160),
    },
    {
      what: "managed-lease update leases.coordination.k8s.io",
      count: expect.toSatisfy((count: number) => count >= 16 && count <= 20),
    },
  ]);
  expect(
    (await fleet.client.get(Lease, { cluster: "hub", namespace: "karmada-cluster", name: "member1" })).spec
      ?.holderIdentity,
  ).toBe("member1");
});

test("an object deleted on the hub is deleted on a pull member", async () => {
  await start("all");

  await fleet.client.delete(Deployment, { cluster: "hub", namespace: "shop", name: "web" });
  await fleet.run(SETTLED_MS);

  expect(await find(fleet.client, Deployment, { cluster: "member1", namespace: "shop", name: "web" })).toBeUndefined();
  expect(
    await find(fleet.client, ResourceBinding, { cluster: "hub", namespace: "shop", name: "web-deployment" }),
  ).toBeUndefined();
});

test("a pull member that leaves keeps its workloads", async () => {
  await start("all");

  await fleet.client.delete(Cluster, { cluster: "hub", name: "member2" });
  await fleet.run(SETTLED_MS);

  expect(await find(fleet.client, Cluster, { cluster: "hub", name: "member2" })).toBeUndefined();
  expect((await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member2" })).items).toEqual([]);
  expect(
    (await fleet.client.get(Deployment, { cluster: "member2", namespace: "shop", name: "web" })).metadata.labels?.[
      "karmada.io/managed"
    ],
  ).toBeUndefined();
});

test("a ManifestWork for a pull member is applied there, and its deletion removes the objects", async () => {
  await start("all");
  const manifest = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "default", name: "settings" },
    data: { mode: "quiet" },
  };
  await fleet.client.create(ManifestWork, "hub", {
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { namespace: "member1", name: "settings" },
    spec: { workload: { manifests: [manifest] } },
  });
  await fleet.run(SETTLED_MS);
  const work = await fleet.client.get(ManifestWork, { cluster: "hub", namespace: "member1", name: "settings" });
  expect(findCondition(work.status?.conditions ?? [], "Applied")?.status).toBe("True");
  expect(
    (await fleet.client.get(ConfigMap, { cluster: "member1", namespace: "default", name: "settings" })).data,
  ).toEqual({ mode: "quiet" });

  await fleet.client.delete(ManifestWork, { cluster: "hub", namespace: "member1", name: "settings" });
  await fleet.run(SETTLED_MS);

  expect(
    await find(fleet.client, ConfigMap, { cluster: "member1", namespace: "default", name: "settings" }),
  ).toBeUndefined();
});
