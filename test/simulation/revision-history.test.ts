/** The history of a workload on the hub, which `kubectl rollout history` and `undo` read there. */
import { expect, test } from "vitest";
import type { Json } from "@flotilla/base";
import { PropagationPolicy, ResourceBinding, Work } from "@flotilla/karmada";
import { ControllerRevision, DaemonSet, Deployment, Namespace, ReplicaSet, StatefulSet } from "@flotilla/kubernetes";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet, TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";

const SETTLED_MS = 10_000;
const REVISION = "deployment.kubernetes.io/revision";
const web = { cluster: "hub", namespace: "shop", name: "web" };

async function start(options: Partial<TestFleetOptions> = {}): Promise<TestFleet> {
  const fleet = endsWithTest(await startTestFleet({ members: ["member1", "member2"], nodes: 2, ...options }));
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/all")
    .selects("apps/v1", "Deployment", "web")
    .selects("apps/v1", "StatefulSet")
    .selects("apps/v1", "DaemonSet")
    .selects("apps/v1", "ReplicaSet")
    .selects("apps/v1", "ControllerRevision")
    .weights({ member1: 1, member2: 1 });
  await fleet.client.create(PropagationPolicy, "hub", policy.build());
  await fleet.run(1_000);
  return fleet;
}

const deployment = (limit?: number): Deployment =>
  makeDeployment("shop/web")
    .replicas(4)
    .with(({ spec }) => (spec.revisionHistoryLimit = limit))
    .build();
const container = (image: string): object => ({
  spec: { template: { spec: { containers: [{ name: "web", image }] } } },
});

async function setImage(fleet: TestFleet, image: string, metadata: object = {}): Promise<void> {
  await fleet.client.patch(Deployment, web, { ...container(image), metadata } as unknown as Json, {
    type: "strategic",
  });
  await fleet.run(SETTLED_MS);
}

/** `revision image`, oldest first. */
async function historyOf(fleet: TestFleet): Promise<string[]> {
  const { items } = await fleet.client.list(ReplicaSet, { cluster: "hub", namespace: "shop" });
  return items
    .map(({ metadata, spec }) => `${metadata.annotations?.[REVISION]} ${spec.template?.spec?.containers[0]?.image}`)
    .toSorted();
}

test("every pod template of a propagated Deployment is a revision on the hub", async () => {
  const fleet = await start();
  await fleet.client.create(Deployment, "hub", deployment());
  await fleet.run(SETTLED_MS);
  const first = await historyOf(fleet);

  await setImage(fleet, "web:2");

  expect(first).toEqual([expect.stringMatching(/^1 /)]);
  expect(await historyOf(fleet)).toEqual([...first, "2 web:2"]);
  const { items } = await fleet.client.list(ReplicaSet, { cluster: "hub", namespace: "shop" });
  expect(items.map(({ spec }) => spec.replicas)).toEqual([0, 0]);
  expect((await fleet.client.get(Deployment, web)).metadata.annotations?.[REVISION]).toBe("2");
});

test("a change of the replicas alone is not a revision", async () => {
  const fleet = await start();
  await fleet.client.create(Deployment, "hub", deployment());
  await fleet.run(SETTLED_MS);

  await fleet.client.patch(Deployment, web, { spec: { replicas: 6 } }, { type: "merge" });
  await fleet.run(SETTLED_MS);

  expect(await historyOf(fleet)).toHaveLength(1);
});

test("a template that returns gets the newest number, and the change cause follows the Deployment", async () => {
  const fleet = await start();
  await fleet.client.create(Deployment, "hub", deployment());
  await fleet.run(SETTLED_MS);
  const { image = "" } = (await fleet.client.get(Deployment, web)).spec.template.spec?.containers[0] ?? {};

  await setImage(fleet, "web:2");
  await setImage(fleet, image, { annotations: { "kubernetes.io/change-cause": "undo" } });

  expect(await historyOf(fleet)).toEqual(["2 web:2", `3 ${image}`]);
  const { items } = await fleet.client.list(ReplicaSet, { cluster: "hub", namespace: "shop" });
  expect(items.map(({ metadata }) => metadata.annotations?.["kubernetes.io/change-cause"])).toContain("undo");
  expect(
    (await fleet.client.get(Deployment, { ...web, cluster: "member1" })).spec.template.spec?.containers[0]?.image,
  ).toBe(image);
});

test("members do not get the hub's revisions, even if a policy selects their kinds, and a converged fleet writes nothing", async () => {
  const fleet = await start();
  await fleet.client.create(Deployment, "hub", deployment());
  await fleet.run(SETTLED_MS);
  for (const image of ["web:2", "web:3", "web:2"]) await setImage(fleet, image);
  await fleet.run(60_000);
  fleet.resetWrites();
  await fleet.run(60_000);

  expect(fleet.writes()).toEqual([]);
  const { items } = await fleet.client.list(ResourceBinding, { cluster: "hub", namespace: "shop" });
  expect(items.map(({ metadata }) => metadata.name)).toEqual(["web-deployment"]);
  expect((await fleet.client.get(Deployment, web)).metadata.annotations?.[REVISION]).toBe("4");
  const { items: works } = await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member1" });
  expect(JSON.stringify(works.map(({ spec }) => spec.workload?.manifests))).not.toContain(REVISION);
  const { items: sets } = await fleet.client.list(ReplicaSet, { cluster: "member1", namespace: "shop" });
  expect(sets.filter(({ metadata }) => metadata.labels?.["karmada.io/managed"])).toEqual([]);
});

test("old revisions are removed beyond revisionHistoryLimit", async () => {
  const fleet = await start();
  await fleet.client.create(Deployment, "hub", deployment(1));
  await fleet.run(SETTLED_MS);

  for (const image of ["web:2", "web:3"]) await setImage(fleet, image);

  expect(await historyOf(fleet)).toEqual(["2 web:2", "3 web:3"]);
});

test("the history is deleted with its Deployment, and a Deployment without a policy has none", async () => {
  const fleet = await start();
  await fleet.client.create(Deployment, "hub", deployment());
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/local").replicas(1).build());
  await fleet.run(SETTLED_MS);
  const before = await historyOf(fleet);

  await fleet.client.delete(Deployment, web);
  await fleet.run(SETTLED_MS);

  expect(before).toHaveLength(1);
  expect(await historyOf(fleet)).toEqual([]);
});

test("a template that changed while the hub was down is recorded after its restart", async () => {
  const engine = createLastingEngine();
  const fleet = await start({ engine });
  await fleet.client.create(Deployment, "hub", deployment());
  await fleet.run(SETTLED_MS);
  await fleet.client.patch(Deployment, web, container("web:2") as unknown as Json, { type: "strategic" });
  await fleet.stop();

  const again = endsWithTest(
    await startTestFleet({ members: ["member1", "member2"], nodes: 2, engine, clock: fleet.clock }),
  );
  await again.run(SETTLED_MS);

  expect(await historyOf(again)).toEqual([expect.stringMatching(/^1 /), "2 web:2"]);
});

const template = { metadata: { labels: { app: "db" } }, spec: { containers: [{ name: "db", image: "db:1" }] } };
const selector = { matchLabels: { app: "db" } };
const metadata = { name: "db", namespace: "shop" };

test("StatefulSets and DaemonSets have their history in ControllerRevisions", async () => {
  const fleet = await start();
  await fleet.client.create(StatefulSet, "hub", {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata,
    spec: { replicas: 2, serviceName: "db", selector, template },
  });
  await fleet.client.create(DaemonSet, "hub", {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata,
    spec: { selector, template },
  });
  await fleet.run(SETTLED_MS);
  for (const kind of [StatefulSet, DaemonSet])
    await fleet.client.patch<StatefulSet | DaemonSet>(
      kind,
      { ...web, name: "db" },
      { spec: { template: { spec: { containers: [{ name: "db", image: "db:2" }] } } } },
      { type: "strategic" },
    );
  await fleet.run(SETTLED_MS);

  const { items } = await fleet.client.list(ControllerRevision, { cluster: "hub", namespace: "shop" });
  const shown = items.map(({ metadata: { ownerReferences }, revision }) => `${ownerReferences?.[0]?.kind} ${revision}`);
  expect(shown.toSorted()).toEqual(["DaemonSet 1", "DaemonSet 2", "StatefulSet 1", "StatefulSet 2"]);
});
