/** Members that pull: an agent applies their Works, reports how they are, and is missed when it falls silent. */
import { afterEach, expect, test } from "vitest";
import { Cluster, Deployment, Lease, Namespace, PropagationPolicy, ResourceBinding, Work } from "../../src/api/index.ts";
import { find } from "../../src/client/index.ts";
import { findCondition } from "../../src/machinery/index.ts";
import { startTestFleet } from "../../src/testing/fleet/index.ts";
import type { TestFleet } from "../../src/testing/fleet/index.ts";
import { makeDeployment, makePolicy } from "../../src/testing/index.ts";

const SETTLED_MS = 60_000;

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(pull: "all" | string[]): Promise<void> {
  fleet = await startTestFleet({ members: ["member1", "member2"], pull, nodes: 2 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", makePolicy("shop/all").selects("apps/v1", "Deployment").weights({ member1: 2, member2: 1 }).build());
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(6).build());
  await fleet.run(SETTLED_MS);
}

test("a member that pulls gets its share, beside one that the hub reaches, and its status comes back", async () => {
  await start(["member2"]);

  const { items } = await fleet.client.list(Cluster, { cluster: "hub" });
  expect(items.map(({ metadata, spec, status }) => [metadata.name, spec.syncMode, findCondition(status?.conditions ?? [], "Ready")?.status, status?.nodeSummary?.totalNum])).toEqual([
    ["member1", "Push", "True", 2],
    ["member2", "Pull", "True", 2],
  ]);
  expect((await fleet.client.get(Deployment, { cluster: "member2", namespace: "shop", name: "web" })).spec.replicas).toBe(2);
  expect((await fleet.client.get(Deployment, { cluster: "hub", namespace: "shop", name: "web" })).status?.readyReplicas).toBe(6);
});

test("the agent renews a Lease each 10 s and writes nothing else while nothing changes", async () => {
  await start("all");
  fleet.resetWrites();

  await fleet.run(60_000);

  const writes = fleet.writes().map(({ part, verb, resource, count }) => `${count} ${part} ${verb} ${resource}`);
  expect(writes).toEqual(["12 lease update leases.coordination.k8s.io"]);
  expect((await fleet.client.get(Lease, { cluster: "hub", namespace: "karmada-cluster", name: "member1" })).spec?.holderIdentity).toBe("member1");
});

test("what is deleted on the hub goes from a member that pulls", async () => {
  await start("all");

  await fleet.client.delete(Deployment, { cluster: "hub", namespace: "shop", name: "web" });
  await fleet.run(SETTLED_MS);

  expect(await find(fleet.client, Deployment, { cluster: "member1", namespace: "shop", name: "web" })).toBeUndefined();
  expect(await find(fleet.client, ResourceBinding, { cluster: "hub", namespace: "shop", name: "web-deployment" })).toBeUndefined();
});

test("a member that pulls and leaves keeps what it runs", async () => {
  await start("all");

  await fleet.client.delete(Cluster, { cluster: "hub", name: "member2" });
  await fleet.run(SETTLED_MS);

  expect(await find(fleet.client, Cluster, { cluster: "hub", name: "member2" })).toBeUndefined();
  expect((await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member2" })).items).toEqual([]);
  expect((await fleet.client.get(Deployment, { cluster: "member2", namespace: "shop", name: "web" })).metadata.labels?.["karmada.io/managed"]).toBeUndefined();
});
