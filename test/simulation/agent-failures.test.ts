/** Failures of an agent: nothing is lost on the member, nothing is done twice, and the agent recovers by itself. */
import { afterEach, describe, expect, test } from "vitest";
import { AppliedManifestWork, ManagedCluster, ManifestWork } from "@flotilla/ocm";
import { Cluster, PropagationPolicy, Work } from "@flotilla/karmada";
import { ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import { find } from "@flotilla/client";
import { findCondition } from "@flotilla/apimachinery";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { CLUSTER, createWorld } from "./agent-world.ts";
import type { World } from "./agent-world.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let world: World;
afterEach(() => world.stop());

async function deploy(name: string, replicas: number): Promise<void> {
  await world.hub().client.create(Deployment, "hub", makeDeployment(`shop/${name}`).replicas(replicas).build());
}

async function start(...options: Parameters<typeof createWorld>): Promise<void> {
  world = await createWorld(...options);
  await world
    .hub()
    .client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await world.hub().client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all")
      .selects("apps/v1", "Deployment")
      .weights({ [CLUSTER]: 1 })
      .build(),
  );
  await deploy("web", 2);
  await world.run(MINUTE_MS);
}

const onMember = (name: string): Promise<Deployment | undefined> =>
  find(world.far.client, Deployment, { cluster: CLUSTER, namespace: "shop", name }) as Promise<Deployment | undefined>;
const ready = async (): Promise<string | undefined> =>
  findCondition(
    (await world.hub().client.get(Cluster, { cluster: "hub", name: CLUSTER })).status?.conditions ?? [],
    "Ready",
  )?.status;
const removeOnHub = (name: string): Promise<unknown> =>
  world.hub().client.delete(Deployment, { cluster: "hub", namespace: "shop", name });

test("an agent that is offline for three days keeps its workloads, repairs drift, and catches up without a request storm", async () => {
  await start();
  world.setOnline(false);
  await world.run(2 * MINUTE_MS);
  expect(await ready()).toBe("Unknown");

  world.resetRequests();
  await world.far.client.patch(
    Deployment,
    { cluster: CLUSTER, namespace: "shop", name: "web" },
    { spec: { replicas: 9 } },
    { type: "merge" },
  );
  await world.run(MINUTE_MS);
  expect((await onMember("web"))?.spec.replicas).toBe(2);
  await world.run(10 * MINUTE_MS);
  // A dozen watches and a few pending writes, each retried at most a few times a minute.
  expect(world.requests.refused).toBeLessThan(600);
  world.far.clock.advance(3 * 24 * HOUR_MS);
  await world
    .hub()
    .client.patch(
      Deployment,
      { cluster: "hub", namespace: "shop", name: "web" },
      { spec: { replicas: 3 } },
      { type: "merge" },
    );
  await world.run(MINUTE_MS);
  expect((await onMember("web"))?.spec.replicas).toBe(2);

  world.resetRequests();
  world.setOnline(true);
  await world.run(3 * MINUTE_MS);

  expect((await onMember("web"))?.spec.replicas).toBe(3);
  expect(await ready()).toBe("True");
  expect(world.requests.lists).toBeLessThan(30);
  expect(world.requests.writes).toBeLessThan(80);
});

test("a hub restored from an older snapshot removes nothing, and its current state applies", async () => {
  await start();
  const saved = await world.save();
  await deploy("later", 1);
  await world
    .hub()
    .client.patch(
      Deployment,
      { cluster: "hub", namespace: "shop", name: "web" },
      { spec: { replicas: 5 } },
      { type: "merge" },
    );
  await world.run(MINUTE_MS);
  expect([(await onMember("web"))?.spec.replicas, (await onMember("later"))?.spec.replicas]).toEqual([5, 1]);

  await world.restore(saved);
  await world.run(10 * MINUTE_MS);

  // The hub does not know it: it stays, with its labels, until a user deletes it.
  expect((await onMember("later"))?.spec.replicas).toBe(1);
  expect((await onMember("web"))?.spec.replicas).toBe(2);
  expect(await ready()).toBe("True");
});

test("a deletion still pending on a restored hub does not affect later objects", async () => {
  await start();
  world.setOnline(false);
  await removeOnHub("web");
  await world.run(MINUTE_MS);
  const saved = await world.save();
  world.setOnline(true);
  await world.run(5 * MINUTE_MS);
  expect(await onMember("web")).toBeUndefined();
  await deploy("web", 4);
  await world.run(MINUTE_MS);
  expect((await onMember("web"))?.spec.replicas).toBe(4);

  await world.restore(saved);
  await world.run(10 * MINUTE_MS);

  expect((await onMember("web"))?.spec.replicas).toBe(4);
});

test("a deletion while the hub is down is completed when it is back", async () => {
  await start();
  await removeOnHub("web");
  world.setOnline(false);
  await world.run(10 * MINUTE_MS);
  expect((await onMember("web"))?.spec.replicas).toBe(2);

  world.setOnline(true);
  await world.run(5 * MINUTE_MS);

  expect(await onMember("web")).toBeUndefined();
  expect(
    (await world.hub().client.list(Work, { cluster: "hub", namespace: `karmada-es-${CLUSTER}` })).items.filter(
      ({ metadata }) => metadata.deletionTimestamp,
    ),
  ).toEqual([]);
});

test("a restarted agent finds everything unchanged", async () => {
  await start();
  const before = (await onMember("web"))?.metadata.resourceVersion;

  await world.restartAgent();
  await world.run(5 * MINUTE_MS);

  expect((await onMember("web"))?.metadata.resourceVersion).toBe(before);
  expect(await ready()).toBe("True");
});

test("an agent with a wrong clock reports nothing about its member until the clock is right again", async () => {
  let skewMs = 0;
  await start({
    agentClock: (clock) => ({ now: () => clock.now() + skewMs, after: (delayMs, run) => clock.after(delayMs, run) }),
  });
  await world.run(10 * MINUTE_MS);
  const condition = async (type: string): Promise<string | undefined> =>
    findCondition(
      (await world.hub().client.get(ManagedCluster, { cluster: "hub", name: CLUSTER })).status?.conditions ?? [],
      type,
    )?.status;
  expect([
    await condition("ManagedClusterConditionClockSynced"),
    await condition("ManagedClusterConditionAvailable"),
  ]).toEqual(["True", "True"]);

  skewMs = -HOUR_MS;
  await world.run(10 * MINUTE_MS);
  expect([
    await condition("ManagedClusterConditionClockSynced"),
    await condition("ManagedClusterConditionAvailable"),
  ]).toEqual(["False", "Unknown"]);

  skewMs = 0;
  await world.run(10 * MINUTE_MS);
  expect([
    await condition("ManagedClusterConditionClockSynced"),
    await condition("ManagedClusterConditionAvailable"),
  ]).toEqual(["True", "True"]);
});

describe("a ManifestWork unknown to a restored hub", () => {
  const settings = (): Promise<ConfigMap | undefined> =>
    find(world.far.client, ConfigMap, { cluster: CLUSTER, namespace: "default", name: "settings" }) as Promise<
      ConfigMap | undefined
    >;
  async function lose(options: Parameters<typeof createWorld>[0] = {}): Promise<void> {
    await start(options);
    const saved = await world.save();
    const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "settings" } };
    await world.hub().client.create(ManifestWork, "hub", {
      apiVersion: "work.open-cluster-management.io/v1",
      kind: "ManifestWork",
      metadata: { namespace: CLUSTER, name: "settings" },
      spec: { workload: { manifests: [manifest] } },
    });
    await world.run(MINUTE_MS);
    expect(await settings()).toBeDefined();
    await world.restore(saved);
    await world.run(5 * MINUTE_MS);
  }

  test("stays on the member", async () => {
    await lose();

    world.far.clock.advance(2 * HOUR_MS);
    await world.run(5 * MINUTE_MS);

    expect(await settings()).toBeDefined();
  });

  test("is deleted when a user on the member deletes it", async () => {
    await lose();

    const { items } = await world.far.client.list(AppliedManifestWork, { cluster: CLUSTER });
    await world.far.client.delete(AppliedManifestWork, { cluster: CLUSTER, name: items[0]?.metadata.name ?? "" });
    await world.run(MINUTE_MS);

    expect(await settings()).toBeUndefined();
    expect((await world.far.client.list(AppliedManifestWork, { cluster: CLUSTER })).items).toEqual([]);
  });

  test("is deleted after the agent's eviction grace period, and not before", async () => {
    await lose({ evictionGraceMs: HOUR_MS });
    await world.run(50 * MINUTE_MS);
    expect(await settings()).toBeDefined();

    await world.run(15 * MINUTE_MS);

    expect(await settings()).toBeUndefined();
  });
});
