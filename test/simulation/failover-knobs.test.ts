/** The hub's failover flags, and how a recurring fault is kept from moving an application around. */
import { afterEach, expect, test } from "vitest";
import { Cluster, ClusterTaintPolicy, PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { Deployment, Event, Namespace } from "@flotilla/kubernetes";
import { copy, type DeepReadonly } from "@flotilla/base";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet, TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const MEMBERS = ["member1", "member2", "member3"];
const KEY = { cluster: "hub", namespace: "shop", name: "web-deployment" };
const DRAIN = { key: "drain", effect: "NoExecute" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

type Failover = NonNullable<PropagationPolicy["spec"]["failover"]>;

async function start(
  failover: Failover | undefined,
  options: Partial<TestFleetOptions> = {},
  workloads = ["web"],
): Promise<void> {
  fleet = await startTestFleet({ members: MEMBERS, ...options });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/web")
    .selects("apps/v1", "Deployment")
    .with(({ spec }) => {
      spec.propagateDeps = true;
      if (failover) spec.failover = failover;
      spec.placement = {
        clusterAffinity: { clusterNames: MEMBERS },
        spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
      };
    });
  await fleet.client.create(PropagationPolicy, "hub", policy.build());
  for (const name of workloads)
    await fleet.client.create(Deployment, "hub", makeDeployment(`shop/${name}`).replicas(2).build());
  await fleet.run(10 * SECOND);
}

const binding = (): Promise<DeepReadonly<ResourceBinding>> => fleet.client.get(ResourceBinding, KEY);
const targets = async (): Promise<string[]> => ((await binding()).spec.clusters ?? []).map(({ name }) => name);
const taint = async (cluster: string, ...taints: { key: string; effect: string }[]): Promise<void> => {
  await fleet.client.patch(Cluster, { cluster: "hub", name: cluster }, { spec: { taints } }, { type: "merge" });
  await fleet.run(SECOND);
};
/** The status that the member's own controllers would report. */
async function report(cluster: string, available: number): Promise<void> {
  const deployment = await fleet.client.get(Deployment, { cluster, namespace: "shop", name: "web" });
  const replicas = deployment.spec.replicas ?? 0;
  await fleet.client.updateStatus(Deployment, cluster, {
    ...copy(deployment),
    status: {
      observedGeneration: deployment.metadata.generation,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: available,
      availableReplicas: available,
    },
  });
  await fleet.run(5 * SECOND);
}

test("with the hub's flags, taints also evict a workload whose policy does not specify them, with the configured purge mode", async () => {
  await start(undefined, { failover: { unasked: { purgeMode: "Directly" } } });
  const [from = ""] = await targets();

  await taint(from, DRAIN);
  await fleet.run(10 * SECOND);

  expect(await targets()).not.toContain(from);
  expect((await binding()).spec.gracefulEvictionTasks).toMatchObject([
    { fromCluster: from, purgeMode: "Directly", reason: "TaintUntolerated" },
  ]);
});

test("the eviction rate is configured on the hub", async () => {
  await start({ cluster: {} }, { failover: { evictionsPerSecond: 1000 } }, ["a", "b", "c", "d", "e", "f"]);
  const leaving = async (): Promise<number> =>
    (await fleet.client.list(ResourceBinding, { cluster: "hub" })).items.filter(
      ({ spec }) => spec.gracefulEvictionTasks?.length,
    ).length;
  const on = async (cluster: string): Promise<number> =>
    (await fleet.client.list(ResourceBinding, { cluster: "hub" })).items.filter(({ spec }) =>
      spec.clusters?.some(({ name }) => name === cluster),
    ).length;
  const counts = await Promise.all(MEMBERS.map(on));
  const many = Math.max(...counts);

  await taint(MEMBERS[counts.indexOf(many)] ?? "", DRAIN);

  expect(many).toBeGreaterThan(1);
  expect(await leaving()).toBe(many);
});

test("the grace period of a copy that waits for its replacement defaults to the hub's", async () => {
  await start({ cluster: {} }, { failover: { evictionTimeoutMs: MINUTE } });
  const [from = ""] = await targets();
  await taint(from, DRAIN);
  await fleet.run(50 * SECOND);
  expect((await binding()).spec.gracefulEvictionTasks).toHaveLength(1);

  await fleet.run(20 * SECOND);

  expect((await binding()).spec.gracefulEvictionTasks ?? []).toEqual([]);
});

test("a ClusterTaintPolicy sets NoExecute if the hub allows it, and workloads are evicted", async () => {
  const evicting = {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: { name: "sick" },
    spec: {
      taints: [DRAIN],
      addOnConditions: [{ conditionType: "Sick", operator: "In", statusValues: ["True"] }],
      removeOnConditions: [],
    },
  } as unknown as ClusterTaintPolicy;
  await start({ cluster: {} });
  await expect(fleet.client.create(ClusterTaintPolicy, "hub", evicting)).rejects.toThrow(
    "NoExecute effect is not allowed",
  );
  await fleet.stop();

  await start({ cluster: {} }, { failover: { allowNoExecuteTaintPolicy: true } });
  await fleet.client.create(ClusterTaintPolicy, "hub", evicting);
  const [from = ""] = await targets();
  const cluster = copy(await fleet.client.get(Cluster, { cluster: "hub", name: from }));
  await fleet.client.updateStatus(Cluster, "hub", {
    ...cluster,
    status: {
      ...cluster.status,
      conditions: [
        ...(cluster.status?.conditions ?? []),
        { type: "Sick", status: "True", reason: "Test", message: "", lastTransitionTime: "2024-05-01T12:00:00Z" },
      ],
    },
  });
  await fleet.run(10 * SECOND);

  expect((await fleet.client.get(Cluster, { cluster: "hub", name: from })).spec.taints).toMatchObject([DRAIN]);
  expect(await targets()).not.toContain(from);
});

test("an application that is unhealthy everywhere is moved with increasing backoff, also across restarts, and reports until when it stays", async () => {
  const engine = createLastingEngine();
  await start({ application: { decisionConditions: { tolerationSeconds: 120 }, gracePeriodSeconds: 60 } }, { engine });
  const movedAt: number[] = [];
  // Events expire after an hour, so they are collected along the way.
  const reported = new Set<string>();
  let [last = ""] = await targets();
  const beganMs = fleet.clock.now();
  await report(last, 0);
  while (fleet.clock.now() < beganMs + 12 * HOUR) {
    await fleet.run(MINUTE);
    for (const { message = "" } of (await fleet.client.list(Event, { cluster: "hub", namespace: "shop" })).items)
      reported.add(message);
    const [now = ""] = await targets();
    if (now === last) continue;
    movedAt.push(Math.round((fleet.clock.now() - beganMs) / MINUTE));
    last = now;
    await fleet.run(5 * SECOND);
    await report(now, 0);
    if (movedAt.length !== 3) continue;
    const atMs = fleet.clock.now();
    await fleet.stop();
    fleet = await startTestFleet({ members: MEMBERS, engine });
    await fleet.run(atMs - fleet.clock.now());
  }

  const pauses = movedAt.slice(1).map((minute, index) => minute - (movedAt[index] ?? 0));
  expect(movedAt.length).toBeLessThanOrEqual(9);
  for (const [index, pause] of pauses.slice(1).entries())
    expect(pause).toBeGreaterThanOrEqual(1.5 * (pauses[index] ?? 0));
  const moves = JSON.parse((await binding()).metadata.annotations?.["flotilla.dev/moves"] ?? "[]") as {
    inRow: number;
  }[];
  expect(moves.at(-1)?.inRow).toBe(movedAt.length);
  expect(
    [...reported].some((message) =>
      /the application is still unhealthy after \d+ moves in a row, so it stays until 20/.test(message),
    ),
  ).toBe(true);
});
