/** Deletions: none waits for a controller or a kubelet that does not exist. */
import { expect, test } from "vitest";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { kubernetesKinds, Namespace, PersistentVolume, PersistentVolumeClaim, Pod } from "@flotilla/kubernetes";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { ClusterPropagationPolicy } from "@flotilla/karmada";

const VolumeAttributesClass = kubernetesKinds.find(({ kind }) => kind === "VolumeAttributesClass");
if (!VolumeAttributesClass) throw new Error("the kind is built in");
const kinds = [PersistentVolumeClaim, PersistentVolume, VolumeAttributesClass, Namespace] as readonly Kind[];

const storage = { resources: { requests: { storage: "1Gi" } }, accessModes: ["ReadWriteOnce"] };
const claim = (spec: JsonObject = {}): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data", namespace: "shop" },
  spec: { ...storage, ...spec },
});
const volume: PersistentVolume = {
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "disk" },
  spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
};
const namespace: Namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };
const gold = {
  apiVersion: "storage.k8s.io/v1",
  kind: "VolumeAttributesClass",
  metadata: { name: "gold" },
  driverName: "disks.example.com",
  parameters: { iops: "100" },
} as KubernetesObject;

async function startFleet(nodes: number): Promise<TestFleet> {
  const fleet = endsWithTest(await startTestFleet({ members: ["m1", "m2"], nodes }));
  await fleet.client.create(ClusterPropagationPolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: "storage" },
    spec: {
      resourceSelectors: [
        { apiVersion: "v1", kind: "PersistentVolumeClaim" },
        { apiVersion: "v1", kind: "PersistentVolume" },
        { apiVersion: "storage.k8s.io/v1", kind: "VolumeAttributesClass" },
      ],
      placement: { clusterAffinity: { clusterNames: ["m1", "m2"] } },
    },
  });
  return fleet;
}

/** The clusters that have one of the objects. */
async function holders({ client }: TestFleet): Promise<string[]> {
  const names = new Set(["data", "disk", "gold", "shop"]);
  const held: string[] = [];
  for (const cluster of ["hub", "m1", "m2"])
    for (const kind of kinds)
      for (const { metadata } of (await client.list(kind, { cluster })).items)
        if (names.has(metadata.name)) held.push(`${kind.kind} on ${cluster}`);
  return held;
}

for (const nodes of [3, 0])
  test(`storage that is deleted on the hub disappears everywhere, with its Namespace; nodes: ${nodes}`, async () => {
    const fleet = await startFleet(nodes);
    const { client } = fleet;
    await client.create(Namespace, "hub", namespace);
    await client.create(PersistentVolumeClaim, "hub", claim());
    await client.create(PersistentVolume, "hub", volume);
    await client.create(VolumeAttributesClass, "hub", gold);
    await fleet.run(20_000);
    const before = await holders(fleet);

    await client.delete(PersistentVolume, { cluster: "hub", name: "disk" });
    await client.delete(VolumeAttributesClass, { cluster: "hub", name: "gold" });
    await client.delete(Namespace, { cluster: "hub", name: "shop" });
    await fleet.run(30_000);

    expect(before).toHaveLength(12);
    expect(await holders(fleet)).toEqual([]);
  });

test("a PersistentVolume of the hub is deleted although its copies are bound", async () => {
  const fleet = await startFleet(3);
  const { client } = fleet;
  await client.create(Namespace, "hub", namespace);
  await client.create(PersistentVolume, "hub", volume);
  await client.create(PersistentVolumeClaim, "hub", claim({ storageClassName: "" }));
  await fleet.run(20_000);
  const bound = await client.get(PersistentVolume, { cluster: "hub", name: "disk" });

  await client.delete(PersistentVolume, { cluster: "hub", name: "disk" });
  await fleet.run(20_000);
  const left = await holders(fleet);
  await client.delete(PersistentVolumeClaim, { cluster: "hub", namespace: "shop", name: "data" });
  await fleet.run(20_000);

  expect(bound.status?.phase).toBe("Bound");
  // The members protect the copies as long as their claims are there.
  expect(left.filter((held) => held.startsWith("PersistentVolume "))).toEqual([
    "PersistentVolume on m1",
    "PersistentVolume on m2",
  ]);
  expect((await holders(fleet)).filter((held) => held.startsWith("PersistentVolume"))).toEqual([]);
});

test("a claim in use is protected in a cluster whose pods others run, and a class while a claim names it", async () => {
  const fleet = await startFleet(0);
  const { client } = fleet;
  const cluster = "m1";
  await client.create(Namespace, cluster, namespace);
  await client.create(VolumeAttributesClass, cluster, gold);
  await client.create(PersistentVolumeClaim, cluster, claim({ volumeAttributesClassName: "gold" }));
  const pod = { cluster, namespace: "shop", name: "web" };
  await client.create(Pod, cluster, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      nodeName: "n1",
      containers: [{ name: "c", image: "x:1" }],
      volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }],
    },
  });

  // It keeps the claim also when it has finished.
  const { metadata, spec } = await client.get(Pod, pod);
  await client.updateStatus(Pod, cluster, {
    apiVersion: "v1",
    kind: "Pod",
    metadata,
    spec,
    status: { phase: "Succeeded" },
  });
  await client.delete(PersistentVolumeClaim, { cluster, namespace: "shop", name: "data" });
  await client.delete(VolumeAttributesClass, { cluster, name: "gold" });
  await fleet.run(20_000);
  const used = await holders(fleet);
  await client.delete(Pod, pod, { gracePeriodSeconds: 0 });
  await fleet.run(20_000);

  expect(used).toEqual(["PersistentVolumeClaim on m1", "VolumeAttributesClass on m1", "Namespace on m1"]);
  expect(await holders(fleet)).toEqual(["Namespace on m1"]);
});

test("a Pod of the hub that names a node is deleted, and so is its Namespace", async () => {
  const fleet = await startFleet(3);
  const { client } = fleet;
  await client.create(Namespace, "hub", namespace);
  await client.create(Pod, "hub", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "shop" },
    spec: { nodeName: "n1", containers: [{ name: "c", image: "x:1" }] },
  });

  await client.delete(Pod, { cluster: "hub", namespace: "shop", name: "web" });
  await fleet.run(1_000);
  const pods = await client.list(Pod, { cluster: "hub", namespace: "shop" });
  await client.delete(Namespace, { cluster: "hub", name: "shop" });
  await fleet.run(20_000);

  expect(pods.items).toEqual([]);
  expect(await holders(fleet)).toEqual([]);
});
