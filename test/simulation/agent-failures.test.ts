/**
 * What an agent does when things go wrong: nothing is lost on the member, nothing is done twice, and it comes back by
 * itself.
 */
import { afterEach, describe, expect, test } from "vitest";
import {
  AppliedManifestWork,
  Cluster,
  ConfigMap,
  Deployment,
  ManagedCluster,
  ManifestWork,
  Namespace,
  PropagationPolicy,
  Work,
} from "../../src/api/index.ts";
import { find } from "../../src/client/index.ts";
import { findCondition } from "../../src/machinery/index.ts";
import { makeDeployment, makePolicy } from "../../src/testing/index.ts";
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
const removeOnHub = (name: string): Promise<void> =>
  world.hub().client.delete(Deployment, { cluster: "hub", namespace: "shop", name });

test("an agent that is offline for three days keeps what runs, repairs it, and catches up without a storm", async () => {
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
  // A dozen watches and a few writes that wait, each tried a few times a minute at most.
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

test("a hub that was restored from an older snapshot takes nothing away, and what it says now holds", async () => {
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

  // The hub does not know of it: it stays, marks and all, until somebody says otherwise.
  expect((await onMember("later"))?.spec.replicas).toBe(1);
  expect((await onMember("web"))?.spec.replicas).toBe(2);
  expect(await ready()).toBe("True");
});

test("a deletion that a restored hub still has in hand does not touch what came after it", async () => {
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

test("a hub that is away while something is deleted gets its answer when it is back", async () => {
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

test("an agent that starts again finds everything as it left it", async () => {
  await start();
  const before = (await onMember("web"))?.metadata.resourceVersion;

  await world.restartAgent();
  await world.run(5 * MINUTE_MS);

  expect((await onMember("web"))?.metadata.resourceVersion).toBe(before);
  expect(await ready()).toBe("True");
});

test("an agent whose clock is wrong says nothing of its member until it is right again", async () => {
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

describe("a ManifestWork that a restored hub does not know", () => {
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

  test("goes when somebody on the member says so", async () => {
    await lose();

    const { items } = await world.far.client.list(AppliedManifestWork, { cluster: CLUSTER });
    await world.far.client.delete(AppliedManifestWork, { cluster: CLUSTER, name: items[0]?.metadata.name ?? "" });
    await world.run(MINUTE_MS);

    expect(await settings()).toBeUndefined();
    expect((await world.far.client.list(AppliedManifestWork, { cluster: CLUSTER })).items).toEqual([]);
  });

  test("goes after as long as its agent was told to wait, and not before", async () => {
    await lose({ evictionGraceMs: HOUR_MS });
    await world.run(50 * MINUTE_MS);
    expect(await settings()).toBeDefined();

    await world.run(15 * MINUTE_MS);

    expect(await settings()).toBeUndefined();
  });
});
