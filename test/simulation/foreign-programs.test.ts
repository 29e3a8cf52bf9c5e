/** A simulated member on which programs of others run: Flotilla leaves their work to them, and only that. */
import { afterEach, expect, test } from "vitest";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import {
  CustomResourceDefinition,
  customResourceDefinitionOf,
  Deployment,
  Lease,
  Namespace,
  Node,
  Pod,
  ReplicaSet,
} from "@flotilla/kubernetes";
import { CloneSet, kruiseDefinitions, NodeImage, SidecarSet } from "@flotilla/openkruise";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";

let fleet: TestFleet;
afterEach(() => fleet.stop());

const NAMESPACE = "default";
const deployment = (name: string): Deployment => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: NAMESPACE },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
  },
});
const pod = (name: string): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: NAMESPACE },
  spec: { containers: [{ name: "main", image: "web:1" }] },
});
const cloneSet = (name: string): CloneSet => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "CloneSet",
  metadata: { name, namespace: NAMESPACE },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
  },
});

/** A program holds its lease, and renews it every five seconds. */
async function run(namespace: string, name: string, ms: number): Promise<void> {
  const key = { cluster: "m1", namespace, name };
  await fleet.client.create(Lease, "m1", {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace },
    spec: { holderIdentity: "outside", leaseDurationSeconds: 15, leaseTransitions: 0 },
  });
  for (let passedMs = 0; passedMs < ms; passedMs += 5_000) {
    await fleet.run(5_000);
    const lease = await fleet.client.get(Lease, key);
    await fleet.client.update(Lease, "m1", {
      ...lease,
      spec: { ...lease.spec, leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + 1 },
    });
  }
}

const list = async <T extends KubernetesObject>(kind: Kind<T>, namespace = NAMESPACE): Promise<readonly T[]> =>
  (await fleet.client.list(kind, { cluster: "m1", namespace })).items as unknown as readonly T[];

test("a kube-controller-manager controls workloads, while nodes stay alive and their pods run", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 2, kruise: "none" });
  const running = run("kube-system", "kube-controller-manager", 70_000);
  await fleet.client.create(Deployment, "m1", deployment("web"));
  await fleet.client.create(Pod, "m1", pod("single"));
  await running;

  const nodes = await fleet.client.list(Node, { cluster: "m1" });
  const leases = await list(Lease, "kube-node-lease");
  expect(nodes.items.map(({ status }) => status?.conditions?.find(({ type }) => type === "Ready")?.status)).toEqual([
    "True",
    "True",
  ]);
  expect(leases.map(({ metadata }) => metadata.name)).toEqual(nodes.items.map(({ metadata }) => metadata.name));
  expect(leases.every(({ spec }) => Date.parse(spec?.renewTime ?? "") > fleet.clock.now() - 15_000)).toBe(true);
  expect(await list(ReplicaSet)).toEqual([]);
  expect((await list(Pod)).map(({ metadata, status }) => [metadata.name, status?.phase])).toEqual([
    ["single", "Running"],
  ]);
});

test("Flotilla controls workloads again when the kube-controller-manager has gone", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 2, kruise: "none" });
  const running = run("kube-system", "kube-controller-manager", 10_000);
  await fleet.client.create(Deployment, "m1", deployment("web"));
  await running;
  await fleet.run(60_000);

  expect((await list(Pod)).map(({ status }) => status?.phase)).toEqual(["Running"]);
});

test("a kube-scheduler binds the pods, and the kubelets run what it has bound", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 2, kruise: "none" });
  const running = run("kube-system", "kube-scheduler", 20_000);
  await fleet.client.create(Pod, "m1", pod("waiting"));
  const [node] = (await fleet.client.list(Node, { cluster: "m1" })).items;
  await fleet.client.create(Pod, "m1", {
    ...pod("bound"),
    spec: { ...pod("bound").spec, nodeName: node?.metadata.name ?? "" },
  });
  await running;

  expect((await list(Pod)).map(({ metadata, status }) => [metadata.name, status?.phase])).toEqual([
    ["bound", "Running"],
    ["waiting", "Pending"],
  ]);
});

test("a kruise-manager controls OpenKruise's workloads", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 2, kruise: "none" });
  await fleet.client.create(Namespace, "m1", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "kruise-system" },
  });
  await fleet.client.create(CustomResourceDefinition, "m1", customResourceDefinitionOf(CloneSet));
  const running = run("kruise-system", "kruise-manager", 20_000);
  await fleet.client.create(CloneSet, "m1", cloneSet("web"));
  await running;

  expect(await list(Pod)).toEqual([]);
});

test("beside a kruise-manager no controller of Flotilla writes an object of OpenKruise", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 2, kruise: "none" });
  await fleet.client.create(Namespace, "m1", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "kruise-system" },
  });
  // The kinds that Flotilla serves, and so has controllers of.
  const parts = kruiseDefinitions.flatMap(({ kind, example }) =>
    "plural" in kind && example ? [{ kind, example }] : [],
  );
  await run("kruise-system", "kruise-manager", 5_000);
  for (const { kind } of parts)
    await fleet.client.create(CustomResourceDefinition, "m1", customResourceDefinitionOf(kind));
  await fleet.run(1_000);
  const created: Created[] = [];
  for (const { kind, example } of parts) {
    const namespace = kind.scope === "Namespaced" ? NAMESPACE : undefined;
    const metadata = { ...example.metadata, name: "of-a-user", namespace };
    // Required, and filled in by the webhooks of a kruise-manager.
    const completion = kind.kind.endsWith("PullJob") ? { completionPolicy: { type: "Always" } } : undefined;
    const { spec } = example as { spec?: object };
    const object = { ...example, metadata, spec: { ...spec, ...completion } };
    created.push(await fleet.client.create(kind, "m1", object));
  }
  const changedBefore = await changedSince(parts, created);
  await fleet.run(5_000);
  await fleet.client.create(Namespace, "m1", { apiVersion: "v1", kind: "Namespace", metadata: { name: "later" } });
  await fleet.run(5_000);

  expect(parts.map(({ kind }) => kind.kind)).toContain("ResourceDistribution");
  expect(changedBefore).toEqual([]);
  expect(await changedSince(parts, created)).toEqual([]);
  expect(await list(Pod)).toEqual([]);
  expect((await fleet.client.list(NodeImage, { cluster: "m1" })).items.map(({ metadata }) => metadata.name)).toEqual([
    "of-a-user",
  ]);
});

type Created = DeepReadonly<KubernetesObject>;

/** The kinds whose objects are not as they were created. */
async function changedSince(parts: readonly { kind: Kind }[], created: readonly Created[]): Promise<string[]> {
  const changed: string[] = [];
  for (const [index, { kind }] of parts.entries()) {
    const { metadata } = created[index] as Created;
    const found = await fleet.client.get(kind, { cluster: "m1", namespace: metadata.namespace, name: metadata.name });
    if (found.metadata.resourceVersion !== metadata.resourceVersion) changed.push(kind.kind);
  }
  return changed;
}

test("a kruise-manager's webhooks decide alone about OpenKruise's objects", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 0, kruise: "none" });
  await fleet.client.create(Namespace, "m1", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "kruise-system" },
  });
  await fleet.client.create(CustomResourceDefinition, "m1", customResourceDefinitionOf(SidecarSet));
  // Flotilla's rules deny it without a list of the administrator.
  const set: SidecarSet = {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "SidecarSet",
    metadata: { name: "patches" },
    spec: {
      selector: { matchLabels: { app: "web" } },
      patchPodMetadata: [{ annotations: { key: "value" }, patchPolicy: "Retain" }],
      containers: [{ name: "side", image: "side:1" }],
    },
  };
  await expect(fleet.client.create(SidecarSet, "m1", set)).rejects.toThrow("whitelist not found");
  await run("kruise-system", "kruise-manager", 5_000);

  const { spec } = await fleet.client.create(SidecarSet, "m1", set);

  // Nothing of Flotilla's was filled in either.
  expect(spec?.updateStrategy).toBeUndefined();
});

test("manifests of OpenKruise find none of its workloads", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 2, kruise: "none" });
  await fleet.client.create(Namespace, "m1", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "kruise-system" },
  });
  await fleet.client.create(CustomResourceDefinition, "m1", customResourceDefinitionOf(CloneSet));
  await fleet.run(30_000);

  expect(await list(Deployment, "kruise-system")).toEqual([]);
});

test("owners are named in a version that the member serves", async () => {
  fleet = await startTestFleet({ members: ["m1"], nodes: 2, kruise: "none" });
  const { spec, ...definition } = customResourceDefinitionOf(CloneSet);
  const versions = spec.versions
    .filter(({ name }) => name === "v1alpha1")
    .map((version) => ({ ...version, storage: true }));
  await fleet.client.create(CustomResourceDefinition, "m1", { ...definition, spec: { ...spec, versions } });
  await fleet.run(30_000);
  await fleet.client.create(CloneSet, "m1", cloneSet("web"));
  await fleet.run(30_000);

  expect((await list(Pod)).flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toMatchObject([
    { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", name: "web" },
  ]);
});
