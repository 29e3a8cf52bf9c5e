/** Cluster-scoped objects, from a ClusterPropagationPolicy to the members and back. */
import { afterEach, expect, test } from "vitest";
import {
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  PropagationPolicy,
  ResourceBinding,
  Work,
} from "@flotilla/karmada";
import { ClusterRole, Deployment, Namespace } from "@flotilla/kubernetes";
import { SidecarSet } from "@flotilla/openkruise";
import type { PropagationSpec } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
let fleet: TestFleet;
afterEach(() => fleet.stop());

const start = async (): Promise<void> => void (fleet = await startTestFleet({ members: ["member1", "member2"] }));

function makeClusterPolicy(
  name: string,
  spec: Partial<PropagationSpec>,
  ...clusters: string[]
): ClusterPropagationPolicy {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name },
    spec: { resourceSelectors: [], placement: { clusterAffinity: { clusterNames: clusters } }, ...spec },
  };
}
const role = (name: string): ClusterRole => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name },
  rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
});
const selectsRole = (name: string) => ({
  resourceSelectors: [{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name }],
});
const namespace = (name: string, labels: Record<string, string> = {}): Namespace => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels },
});
const has = async (cluster: string, kind: Parameters<TestFleet["client"]["list"]>[0], name: string): Promise<boolean> =>
  (await fleet.client.list(kind, { cluster })).items.some(({ metadata }) => metadata.name === name);

test("a cluster-scoped template is propagated through a ClusterResourceBinding, and deleted with it", async () => {
  await start();
  await fleet.client.create(ClusterRole, "hub", role("shop:reader"));
  await fleet.client.create(
    ClusterPropagationPolicy,
    "hub",
    makeClusterPolicy("readers", selectsRole("shop:reader"), "member1"),
  );
  await fleet.run(SETTLED_MS);

  const binding = await fleet.client.get(ClusterResourceBinding, { cluster: "hub", name: "shop.reader-clusterrole" });
  expect(binding.metadata.finalizers).toEqual(["karmada.io/cluster-resource-binding-controller"]);
  expect(binding.metadata.annotations).toMatchObject({ "clusterpropagationpolicy.karmada.io/name": "readers" });
  expect(binding.spec.clusters).toEqual([{ name: "member1" }]);
  expect(binding.status?.conditions).toContainEqual(expect.objectContaining({ type: "FullyApplied", status: "True" }));
  const id = binding.metadata.labels?.["clusterresourcebinding.karmada.io/permanent-id"];
  const works = (
    await fleet.client.list(Work, {
      cluster: "hub",
      labelSelector: `clusterresourcebinding.karmada.io/permanent-id=${id}`,
    })
  ).items;
  expect(works.map(({ metadata }) => metadata.namespace)).toEqual(["karmada-es-member1"]);
  expect(works[0]?.metadata.annotations).toMatchObject({
    "clusterresourcebinding.karmada.io/name": "shop.reader-clusterrole",
  });
  expect(await has("member1", ClusterRole, "shop:reader")).toBe(true);
  expect(await has("member2", ClusterRole, "shop:reader")).toBe(false);

  await fleet.client.delete(ClusterRole, { cluster: "hub", name: "shop:reader" });
  await fleet.run(SETTLED_MS);

  expect(await has("hub", ClusterResourceBinding, "shop.reader-clusterrole")).toBe(false);
  expect(await has("member1", ClusterRole, "shop:reader")).toBe(false);
});

test("a ClusterPropagationPolicy claims a namespaced template that no namespaced policy matches", async () => {
  await start();
  await fleet.client.create(Namespace, "hub", namespace("shop"));
  await fleet.client.create(
    ClusterPropagationPolicy,
    "hub",
    makeClusterPolicy("everywhere", { resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }] }, "member1"),
  );
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/own").selects("apps/v1", "Deployment", "cart").duplicates("member2").build(),
  );
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").build());
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/cart").build());
  await fleet.run(SETTLED_MS);

  const clustersOf = async (name: string) =>
    (await fleet.client.get(ResourceBinding, { cluster: "hub", namespace: "shop", name })).spec.clusters?.map(
      (target) => target.name,
    );
  expect(await clustersOf("web-deployment")).toEqual(["member1"]);
  expect(await clustersOf("cart-deployment")).toEqual(["member2"]);
});

test("edits of a ClusterPropagationPolicy reach the ClusterResourceBinding, every field of it", async () => {
  await start();
  await fleet.client.create(ClusterRole, "hub", role("reader"));
  await fleet.client.create(
    ClusterPropagationPolicy,
    "hub",
    makeClusterPolicy("readers", selectsRole("reader"), "member1"),
  );
  await fleet.run(SETTLED_MS);
  await fleet.client.patch(
    ClusterPropagationPolicy,
    { cluster: "hub", name: "readers" },
    {
      spec: {
        propagateDeps: true,
        conflictResolution: "Overwrite",
        placement: { clusterAffinity: { clusterNames: ["member2"] } },
      },
    },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);

  const { spec } = await fleet.client.get(ClusterResourceBinding, { cluster: "hub", name: "reader-clusterrole" });
  expect(spec).toMatchObject({ propagateDeps: true, conflictResolution: "Overwrite", clusters: [{ name: "member2" }] });
  expect(await has("member1", ClusterRole, "reader")).toBe(false);
  expect(await has("member2", ClusterRole, "reader")).toBe(true);
});

test("a namespaced policy may select a cluster-scoped SidecarSet by name", async () => {
  await start();
  await fleet.client.create(Namespace, "hub", namespace("shop"));
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/logs").selects("apps.kruise.io/v1beta1", "SidecarSet", "logs").duplicates("member1").build(),
  );
  await fleet.client.create(SidecarSet, "hub", {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "SidecarSet",
    metadata: { name: "logs" },
    spec: { selector: { matchLabels: { app: "web" } }, containers: [{ name: "tail", image: "tail:1" }] },
  });
  await fleet.run(SETTLED_MS);

  expect(await has("member1", SidecarSet, "logs")).toBe(true);
  expect(
    (await fleet.client.get(ClusterResourceBinding, { cluster: "hub", name: "logs-sidecarset" })).metadata.annotations,
  ).toMatchObject({ "propagationpolicy.karmada.io/namespace": "shop", "propagationpolicy.karmada.io/name": "logs" });
});

test("a namespace selected by a policy changes its owner without ever leaving a member", async () => {
  await start();
  await fleet.client.create(Namespace, "hub", namespace("shop"));
  await fleet.run(SETTLED_MS);
  const uidOn = async (member: string) =>
    (await fleet.client.get(Namespace, { cluster: member, name: "shop" })).metadata.uid;
  const before = [await uidOn("member1"), await uidOn("member2")];

  for (const clusters of [["member1"], ["member2"], ["member1"]]) {
    const policy = makeClusterPolicy(
      "shops",
      { resourceSelectors: [{ apiVersion: "v1", kind: "Namespace", name: "shop" }] },
      ...clusters,
    );
    if (!(await has("hub", ClusterPropagationPolicy, "shops")))
      await fleet.client.create(ClusterPropagationPolicy, "hub", policy);
    else
      await fleet.client.patch(
        ClusterPropagationPolicy,
        { cluster: "hub", name: "shops" },
        { spec: { placement: { clusterAffinity: { clusterNames: clusters } } } },
        { type: "merge" },
      );
    await fleet.run(SETTLED_MS);
    expect([await uidOn("member1"), await uidOn("member2")]).toEqual(before);
  }
  fleet.resetWrites();
  await fleet.run(120_000);
  expect(fleet.writes()).toEqual([]);

  await fleet.client.delete(Namespace, { cluster: "hub", name: "shop" });
  await fleet.run(SETTLED_MS);
  expect(await has("member1", Namespace, "shop")).toBe(false);
  expect(await has("member2", Namespace, "shop")).toBe(false);
});

test("a namespace that opted out of propagation is only propagated by a policy", async () => {
  await start();
  await fleet.client.create(
    Namespace,
    "hub",
    namespace("shop", { "namespace.karmada.io/skip-auto-propagation": "true" }),
  );
  await fleet.client.create(
    ClusterPropagationPolicy,
    "hub",
    makeClusterPolicy(
      "shops",
      { resourceSelectors: [{ apiVersion: "v1", kind: "Namespace", name: "shop" }] },
      "member1",
    ),
  );
  await fleet.run(SETTLED_MS);

  expect(await has("member1", Namespace, "shop")).toBe(true);
  expect(await has("member2", Namespace, "shop")).toBe(false);
});

test("system namespaces and the control plane's CRDs are never templates", async () => {
  await start();
  await fleet.client.create(
    ClusterPropagationPolicy,
    "hub",
    makeClusterPolicy(
      "all",
      {
        resourceSelectors: [
          { apiVersion: "v1", kind: "Namespace" },
          { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
        ],
      },
      "member1",
    ),
  );
  await fleet.run(SETTLED_MS);

  const bound = (await fleet.client.list(ClusterResourceBinding, { cluster: "hub" })).items.map(
    ({ spec }) => spec.resource.name,
  );
  expect(bound.filter((name) => /^(kube-|karmada-)|karmada\.io$|flotilla\.dev$/.test(name))).toEqual([]);
});
