/**
 * OpenKruise's own pods on members: present from the start without stored objects, and also after a later installation.
 */
import { afterEach, expect, test } from "vitest";
import { CloneSet, SidecarSet } from "@flotilla/openkruise";
import {
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  Namespace,
  Node,
  Pod,
  customResourceDefinitionOf,
} from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { isNotFound } from "@flotilla/apimachinery";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";

let fleet: TestFleet;
afterEach(() => fleet.stop());

const SYSTEM = "kruise-system";
const pods = async (cluster = "m1"): Promise<DeepReadonly<Pod>[]> => [
  ...(await fleet.client.list(Pod, { cluster, namespace: SYSTEM })).items,
];
const shown = ({ metadata, status }: DeepReadonly<Pod>): string =>
  `${metadata.ownerReferences?.[0]?.kind ?? ""} ${metadata.annotations?.["flotilla.dev/in-process"] ?? ""} ${status?.phase ?? ""}`;
const memberWrites = (): number =>
  fleet
    .writes()
    .filter(({ cluster }) => cluster === "m1")
    .reduce((sum, { count }) => sum + count, 0);
const cloneSet = (namespace = "default"): CloneSet => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "CloneSet",
  metadata: { name: "web", namespace },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
  },
});

const openLog = async (pod: string, query = "", namespace = SYSTEM) =>
  (
    await fleet.client.raw({
      cluster: "m1",
      method: "GET",
      path: `/api/v1/namespaces/${namespace}/pods/${pod}/log${query}`,
    })
  ).body;

async function logOf(pod: string, namespace?: string): Promise<string[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await openLog(pod, "", namespace)) chunks.push(chunk);
  return Buffer.concat(chunks).toString().split("\n").filter(Boolean);
}

test("a member with OpenKruise shows its manager and a daemon per node, without any writes", async () => {
  fleet = await startTestFleet({ members: ["m1", "m2"], nodes: 2 });

  await fleet.run(600_000);

  expect((await pods()).map(shown)).toEqual([
    "ReplicaSet kruise-controller-manager Running",
    "DaemonSet kruise-daemon Running",
    "DaemonSet kruise-daemon Running",
  ]);
  expect((await fleet.client.list(Node, { cluster: "m1" })).items.map(({ metadata }) => metadata.name)).toEqual([
    "node-000",
    "node-001",
  ]);
  expect(memberWrites()).toBe(0);
  const [mine, theirs] = await Promise.all([pods("m1"), pods("m2")]);
  expect(mine[0]?.metadata.uid).not.toBe(theirs[0]?.metadata.uid);
});

test("a deleted component pod is recreated by its workload", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 2 });
  const before = await pods();

  for (const { metadata } of before)
    await fleet.client.delete(Pod, { cluster: "m1", namespace: SYSTEM, name: metadata.name });
  await fleet.run(60_000);

  const after = await pods();
  expect(after.map(shown)).toEqual(before.map(shown));
  expect(after.some(({ metadata }) => before.some((old) => old.metadata.name === metadata.name))).toBe(false);
  expect(
    (await fleet.client.get(DaemonSet, { cluster: "m1", namespace: SYSTEM, name: "kruise-daemon" })).status
      ?.numberReady,
  ).toBe(2);
});

test("the manager's log contains the controllers' lines about that member", async () => {
  fleet = await startTestFleet({ members: ["m1", "m2"], nodes: 2 });
  const [manager] = await pods();
  await fleet.client.create(CloneSet, "m2", { ...cloneSet(), metadata: { name: "other", namespace: "default" } });
  await fleet.client.create(CloneSet, "m1", cloneSet());

  await fleet.run(30_000);

  const lines = await logOf(manager?.metadata.name ?? "");
  expect(lines[0]).toBe(
    "2024-05-01T12:00:00.000Z INFO kruise-controller-manager of m1 runs inside Flotilla; the following lines are its log messages about m1",
  );
  expect(lines.filter((line) => line.includes("controller=cloneset key=default/web")).length).toBeGreaterThan(0);
  expect(lines.filter((line) => line.includes("other"))).toEqual([]);
});

test("a pod that only claims to be a component shows its own simulated log", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 1 });
  await fleet.client.create(Pod, "m1", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "spy",
      namespace: "default",
      annotations: { "flotilla.dev/in-process": "kruise-controller-manager" },
    },
    spec: { containers: [{ name: "main", image: "x:1" }] },
  });
  await fleet.run(10_000);

  expect(await logOf("spy", "default")).toContain("image x:1; the container is simulated, no process runs");
});

test("following the manager's log streams new lines until its pod is deleted", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 1 });
  const [manager] = await pods();
  const name = manager?.metadata.name ?? "";
  const reported: string[] = [];
  const followed = (async (): Promise<void> => {
    for await (const chunk of await openLog(name, "?follow=true")) reported.push(Buffer.from(chunk).toString());
  })();
  await fleet.run(1_000);
  const before = reported.join("");

  await fleet.client.create(CloneSet, "m1", cloneSet());
  await fleet.run(10_000);
  const after = reported.join("");
  await fleet.client.delete(Pod, { cluster: "m1", namespace: SYSTEM, name });
  await fleet.run(30_000);
  await followed;

  expect(before).not.toContain("default/web");
  expect(after).toContain("key=default/web");
});

test("a member without OpenKruise has no component pods until its CRDs are installed", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 2, kruise: "none" });
  const missing = await fleet.client
    .get(Namespace, { cluster: "m1", name: SYSTEM })
    .catch((error: unknown) => isNotFound(error));

  await fleet.client.create(CustomResourceDefinition, "m1", customResourceDefinitionOf(CloneSet));
  await fleet.run(30_000);
  await fleet.client.create(CloneSet, "m1", cloneSet());
  await fleet.run(30_000);

  expect(missing).toBe(true);
  expect((await pods()).map(shown).toSorted((a, b) => (a < b ? 1 : -1))).toEqual([
    "ReplicaSet kruise-controller-manager Running",
    "DaemonSet kruise-daemon Running",
    "DaemonSet kruise-daemon Running",
  ]);
  expect(
    (await fleet.client.get(Deployment, { cluster: "m1", namespace: SYSTEM, name: "kruise-controller-manager" })).status
      ?.readyReplicas,
  ).toBe(1);
  expect((await fleet.client.get(CloneSet, { cluster: "m1", namespace: "default", name: "web" })).status).toMatchObject(
    { replicas: 2, readyReplicas: 2 },
  );
});

test("the pod webhooks work with any of OpenKruise's CRDs, with or without CloneSets", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 2, kruise: "none" });
  await fleet.client.create(CustomResourceDefinition, "m1", customResourceDefinitionOf(SidecarSet));
  await fleet.run(30_000);
  await fleet.client.create(SidecarSet, "m1", {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "SidecarSet",
    metadata: { name: "proxies" },
    spec: { selector: { matchLabels: { app: "web" } }, containers: [{ name: "proxy", image: "proxy:1" }] },
  });
  await fleet.run(30_000);

  const containers = [
    { name: "main", image: "web:1" },
    { name: "late", image: "web:1" },
  ];
  await fleet.client.create(Pod, "m1", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "web",
      namespace: "default",
      labels: { app: "web" },
      annotations: { "apps.kruise.io/container-launch-priority": "Ordered" },
    },
    spec: { containers },
  });
  const pod = await fleet.client.get(Pod, { cluster: "m1", namespace: "default", name: "web" });

  expect(pod.spec.containers.map(({ name }) => name)).toContain("proxy");
  expect(pod.spec.containers.every(({ env }) => env?.some(({ name }) => name === "KRUISE_CONTAINER_BARRIER"))).toBe(
    true,
  );
  expect((await pods()).map(shown)).toContain("ReplicaSet kruise-controller-manager Running");
});
