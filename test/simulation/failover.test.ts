/** Workloads leave members on which they fail, and members that must be left; nothing is lost in the process. */
import { afterEach, expect, test } from "vitest";
import {
  Cluster,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  PropagationPolicy,
  ResourceBinding,
  Work,
} from "@flotilla/karmada";
import { ClusterRole, Deployment, Event, Namespace } from "@flotilla/kubernetes";
import { copy, type DeepReadonly } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet, TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const KEY = { cluster: "hub", namespace: "shop", name: "web-deployment" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

type Failover = NonNullable<PropagationPolicy["spec"]["failover"]>;
const APPLICATION: Failover = { application: { decisionConditions: { tolerationSeconds: 120 } } };

/** One copy of all replicas, on one of the members. */
const onOneOf = (members: string[], failover: Failover): PropagationPolicy =>
  makePolicy("shop/web")
    .selects("apps/v1", "Deployment")
    .with(({ spec }) => {
      spec.propagateDeps = true;
      spec.failover = failover;
      spec.placement = {
        clusterAffinity: { clusterNames: members },
        spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
      };
    })
    .build();

async function start(policy: PropagationPolicy, options: Partial<TestFleetOptions> = {}): Promise<void> {
  fleet = await startTestFleet({ members: ["member1", "member2"], ...options });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", policy);
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(2).build());
  await fleet.run(10 * SECOND);
}

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
const binding = (): Promise<DeepReadonly<ResourceBinding>> => fleet.client.get(ResourceBinding, KEY);
const targets = async (): Promise<string[]> => ((await binding()).spec.clusters ?? []).map(({ name }) => name);
const tasks = async () => (await binding()).spec.gracefulEvictionTasks ?? [];
const moves = async () =>
  JSON.parse((await binding()).metadata.annotations?.["flotilla.dev/moves"] ?? "[]") as {
    from: string;
    ending: string;
    began: string;
    ended: string;
  }[];
const copies = async (): Promise<string[]> =>
  (await fleet.client.list(Work, { cluster: "hub" })).items
    .filter(({ metadata }) => metadata.name.startsWith("web-"))
    .map(({ metadata }) => metadata.namespace?.slice("karmada-es-".length) ?? "")
    .sort();
const eventsOf = async (reason: string): Promise<(string | undefined)[]> =>
  (await fleet.client.list(Event, { cluster: "hub", namespace: "shop" })).items
    .filter((event) => event.reason === reason && event.involvedObject.kind === "ResourceBinding")
    .map(({ message }) => message);
const taint = async (cluster: string, ...taints: { key: string; effect: string }[]): Promise<void> => {
  await fleet.client.patch(Cluster, { cluster: "hub", name: cluster }, { spec: { taints } }, { type: "merge" });
  await fleet.run(SECOND);
};
async function expectSilence(ms: number): Promise<void> {
  fleet.resetWrites();
  await fleet.run(ms);
  expect(fleet.writes().filter(({ part }) => part !== "membership")).toEqual([]);
}

test("an application that stays unhealthy is moved, and its old copy is deleted when the new one is healthy", async () => {
  await start(onOneOf(["member1", "member2"], APPLICATION));
  const [from = ""] = await targets();
  const to = from === "member1" ? "member2" : "member1";
  await report(from, 2);
  await report(from, 0);
  await fleet.run(100 * SECOND);
  expect(await targets()).toEqual([from]);

  await fleet.run(30 * SECOND);
  expect(await targets()).toEqual([to]);
  expect(await copies()).toEqual(["member1", "member2"]);
  expect(await tasks()).toMatchObject([
    {
      fromCluster: from,
      purgeMode: "Gracefully",
      reason: "ApplicationFailure",
      producer: "resource-binding-application-failover-controller",
      gracePeriodSeconds: 600,
      replicas: 2,
      clustersBeforeFailover: [from],
    },
  ]);

  await report(to, 2);
  expect(await copies()).toEqual([to]);
  expect(await tasks()).toEqual([]);
  expect(await moves()).toMatchObject([
    {
      from,
      replicas: 2,
      cause: "ApplicationFailure",
      actor: "resource-binding-application-failover-controller",
      before: [from],
      after: [`${to}=2`],
      ending: "Replaced",
    },
  ]);
  expect(await eventsOf("EvictWorkloadFromClusterSucceed")).toEqual([`Evict from cluster ${from} succeed.`]);
  await expectSilence(HOUR);
  expect(await targets()).toEqual([to]);
});

test("a restart during a toleration or an eviction does not restart its time", async () => {
  const engine = createLastingEngine();
  await start(onOneOf(["member1", "member2"], APPLICATION), { engine });
  const [from = ""] = await targets();
  await report(from, 0);
  await fleet.run(60 * SECOND);
  const restart = async (): Promise<void> => {
    const atMs = fleet.clock.now();
    await fleet.stop();
    fleet = await startTestFleet({ members: ["member1", "member2"], engine });
    await fleet.run(atMs - fleet.clock.now());
  };

  await restart();
  expect(await targets()).toEqual([from]);
  await fleet.run(60 * SECOND);
  expect(await targets()).not.toEqual([from]);

  await fleet.run(5 * MINUTE);
  await restart();
  expect(await copies()).toEqual(["member1", "member2"]);
  await fleet.run(6 * MINUTE);
  const [move] = await moves();
  expect(move).toMatchObject({ from, ending: "TimedOut" });
  expect(Date.parse(move?.ended ?? "") - Date.parse(move?.began ?? "")).toBe(10 * MINUTE);
});

test("an application that recovers repeatedly is not moved", async () => {
  await start(onOneOf(["member1", "member2"], APPLICATION));
  const [from = ""] = await targets();
  await report(from, 2);
  await fleet.run(MINUTE);
  for (let time = 0; time < 20; time++) {
    await report(from, 0);
    await fleet.run(60 * SECOND);
    await report(from, 2);
  }

  expect(await targets()).toEqual([from]);
  expect(await tasks()).toEqual([]);
});

test("a fault on every cluster evicts the application from none, and a fix still reaches it", async () => {
  await start(onOneOf(["member1"], APPLICATION));
  await report("member1", 0);
  await fleet.run(30 * MINUTE);

  expect(await targets()).toEqual(["member1"]);
  expect(await tasks()).toEqual([]);
  expect(await eventsOf("EvictWorkloadFromClusterFailed")).toEqual([
    expect.stringContaining("Evict from cluster member1 failed: no other cluster fits: 0/2 clusters are available"),
  ]);
  await fleet.client.patch(
    Deployment,
    { cluster: "hub", namespace: "shop", name: "web" },
    { spec: { paused: true } },
    { type: "merge" },
  );
  await fleet.run(10 * SECOND);
  expect((await fleet.client.get(Deployment, { cluster: "member1", namespace: "shop", name: "web" })).spec.paused).toBe(
    true,
  );
  await expectSilence(3 * HOUR);

  await fleet.client.patch(
    PropagationPolicy,
    { cluster: "hub", namespace: "shop", name: "web" },
    { spec: { placement: { clusterAffinity: { clusterNames: ["member1", "member2"] } } } },
    { type: "merge" },
  );
  await fleet.run(MINUTE);
  expect(await targets()).toEqual(["member2"]);
});

const DRAIN = { key: "drain", effect: "NoExecute" };

test("a tainted member is left gracefully: the old copy stays until the new one is healthy, however long that takes", async () => {
  await start(onOneOf(["member1", "member2"], { cluster: {} }));
  const [from = ""] = await targets();
  const to = from === "member1" ? "member2" : "member1";
  await report(from, 2);

  await taint(from, DRAIN);
  expect(await targets()).toEqual([to]);
  expect(await tasks()).toMatchObject([
    {
      fromCluster: from,
      reason: "TaintUntolerated",
      producer: "TaintManager",
      message: "the cluster has the taint drain:NoExecute, which the policy does not tolerate",
    },
  ]);
  await fleet.run(3 * HOUR);
  expect(await copies()).toEqual(["member1", "member2"]);

  await report(to, 2);
  expect(await copies()).toEqual([to]);
  await expectSilence(HOUR);
});

test("a taint is tolerated for the policy's tolerationSeconds, counted from when it was added, also across a restart", async () => {
  const engine = createLastingEngine();
  const policy = onOneOf(["member1", "member2"], { cluster: { purgeMode: "Gracefully" } });
  if (policy.spec.placement)
    policy.spec.placement.clusterTolerations = [
      { key: "drain", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
    ];
  await start(policy, { engine });
  const [from = ""] = await targets();
  await report(from, 2);
  await taint(from, DRAIN);
  await fleet.run(4 * MINUTE);
  const atMs = fleet.clock.now();
  await fleet.stop();
  fleet = await startTestFleet({ members: ["member1", "member2"], engine });
  await fleet.run(atMs - fleet.clock.now());
  expect(await targets()).toEqual([from]);

  await fleet.run(MINUTE);
  expect(await targets()).not.toEqual([from]);
});

test("a workload whose policy has no cluster failover, or tolerates taints forever, is not evicted", async () => {
  const policy = onOneOf(["member1", "member2"], { cluster: {} });
  if (policy.spec.placement) policy.spec.placement.clusterTolerations = [{ key: "drain", operator: "Exists" }];
  await start(policy);
  const [from = ""] = await targets();
  await taint(from, DRAIN);
  await fleet.run(HOUR);
  expect(await targets()).toEqual([from]);

  await fleet.client.patch(
    PropagationPolicy,
    { cluster: "hub", namespace: "shop", name: "web" },
    { spec: { failover: null, placement: { clusterTolerations: null } } },
    { type: "merge" },
  );
  await fleet.run(HOUR);
  expect(await targets()).toEqual([from]);
});

test("if all members are tainted nothing is evicted until one is usable again", async () => {
  await start(onOneOf(["member1", "member2"], { cluster: {} }));
  const [from = ""] = await targets();
  const to = from === "member1" ? "member2" : "member1";
  await report(from, 2);
  await taint(to, DRAIN);
  await taint(from, DRAIN);
  await fleet.run(HOUR);
  expect(await targets()).toEqual([from]);
  expect(await tasks()).toEqual([]);

  await taint(to);
  expect(await targets()).toEqual([to]);
  expect(await copies()).toEqual(["member1", "member2"]);
});

test("with purge mode Directly the old copy is deleted before the new one is created, which gets the state of the old one", async () => {
  await start(
    onOneOf(["member1", "member2"], {
      cluster: {
        purgeMode: "Directly",
        statePreservation: { rules: [{ aliasLabelName: "shop/ready", jsonPath: "{ .readyReplicas }" }] },
      },
    }),
  );
  const [from = ""] = await targets();
  const to = from === "member1" ? "member2" : "member1";
  await report(from, 2);

  await taint(from, DRAIN);
  await fleet.run(10 * SECOND);
  expect(await copies()).toEqual([to]);
  expect(await tasks()).toMatchObject([
    { fromCluster: from, purgeMode: "Directly", preservedLabelState: { "shop/ready": "2" } },
  ]);
  expect(
    (await fleet.client.get(Deployment, { cluster: to, namespace: "shop", name: "web" })).metadata.labels,
  ).toMatchObject({ "shop/ready": "2" });
  await expect(fleet.client.get(Deployment, { cluster: from, namespace: "shop", name: "web" })).rejects.toThrow(
    "not found",
  );
});

test("workloads are evicted from a tainted member one after the other", async () => {
  await start(onOneOf(["member1", "member2"], { cluster: {} }));
  for (const name of ["a", "b", "c", "d"])
    await fleet.client.create(Deployment, "hub", makeDeployment(`shop/${name}`).build());
  await fleet.run(10 * SECOND);
  const leaving = async (): Promise<number> =>
    (await fleet.client.list(ResourceBinding, { cluster: "hub" })).items.filter(
      ({ spec }) => spec.gracefulEvictionTasks?.length,
    ).length;
  const counts: number[] = [];
  const on = async (cluster: string): Promise<number> =>
    (await fleet.client.list(ResourceBinding, { cluster: "hub" })).items.filter(({ spec }) =>
      spec.clusters?.some(({ name }) => name === cluster),
    ).length;
  const busiest = (await on("member1")) >= (await on("member2")) ? "member1" : "member2";
  const many = await on(busiest);
  await taint(busiest, DRAIN);
  for (let turn = 0; turn < many; turn++) {
    counts.push(await leaving());
    await fleet.run(2 * SECOND);
  }

  expect(many).toBeGreaterThan(2);
  expect(counts).toEqual(Array.from({ length: many }, (_each, index) => index + 1));
});

test("a divided workload with running pods never has fewer ready pods while it is evicted", async () => {
  const policy = makePolicy("shop/web")
    .selects("apps/v1", "Deployment")
    .weights({ member1: 1, member2: 1, member3: 1 })
    .with(({ spec }) => (spec.failover = { cluster: { purgeMode: "Gracefully" } }))
    .build();
  fleet = await startTestFleet({ members: ["member1", "member2", "member3"], nodes: 2 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", policy);
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(6).build());
  await fleet.run(20 * SECOND);
  const ready = async (): Promise<number> => {
    let sum = 0;
    for (const cluster of ["member1", "member2", "member3"])
      for (const { status } of (await fleet.client.list(Deployment, { cluster, namespace: "shop" })).items)
        sum += status?.readyReplicas ?? 0;
    return sum;
  };
  expect(await ready()).toBe(6);

  for (const member of ["member1", "member2"]) {
    await fleet.client.patch(
      Cluster,
      { cluster: "hub", name: member },
      { spec: { taints: [DRAIN] } },
      { type: "merge" },
    );
    for (let step = 0; step < 100; step++) {
      await fleet.run(200);
      expect(await ready()).toBeGreaterThanOrEqual(6);
    }
    expect(await targets()).not.toContain(member);
    expect(await copies()).not.toContain(member);
  }
  expect(await ready()).toBe(6);
});

test("an unreachable member keeps its workloads; the workload runs elsewhere, and the old copy is deleted when the member is back", async () => {
  const away = new Set<string>();
  const wrap = (transport: Transport, part: string): Transport => ({
    ...transport,
    send: (request, signal) =>
      part === "execute" && away.has(request.path.cluster)
        ? Promise.resolve().then(() => Promise.reject(new UnreachableError(`${request.path.cluster} is away`)))
        : transport.send(request, signal),
  });
  await start(onOneOf(["member1", "member2"], { cluster: {} }), { wrap });
  const [from = ""] = await targets();
  const to = from === "member1" ? "member2" : "member1";
  await report(from, 2);
  away.add(from);
  await taint(from, DRAIN);
  await fleet.run(3 * HOUR);
  expect([await targets(), await copies()]).toEqual([[to], ["member1", "member2"]]);

  await report(to, 2);
  await fleet.run(3 * HOUR);
  const there = { cluster: from, namespace: "shop", name: "web" };
  expect((await fleet.client.get(Deployment, there)).spec.replicas).toBe(2);
  expect(await tasks()).toEqual([]);

  away.clear();
  await fleet.run(10 * MINUTE);
  await expect(fleet.client.get(Deployment, there)).rejects.toThrow("not found");
  expect(await copies()).toEqual([to]);
});

test("a copy that was evicted from a tainted member does not return while the taint exists, although it was tolerated for a while", async () => {
  const policy = makePolicy("shop/web").selects("apps/v1", "Deployment").duplicates("member1", "member2").build();
  policy.spec.failover = { cluster: {} };
  if (policy.spec.placement)
    policy.spec.placement.clusterTolerations = [
      { key: "drain", operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 },
    ];
  await start(policy);
  await report("member1", 2);
  await report("member2", 2);
  await taint("member1", DRAIN);
  await fleet.run(MINUTE + 10 * SECOND);
  expect([await targets(), await copies()]).toEqual([["member2"], ["member2"]]);

  await expectSilence(HOUR);
  await taint("member1");
  await fleet.run(10 * SECOND);
  expect(await targets()).toEqual(["member1", "member2"]);
});

test("no eviction starts while scheduling is suspended: the workload stays, and reports it", async () => {
  await start(onOneOf(["member1", "member2"], { cluster: { purgeMode: "Directly" } }));
  const [from = ""] = await targets();
  await fleet.client.patch(ResourceBinding, KEY, { spec: { suspension: { scheduling: true } } }, { type: "merge" });
  await taint(from, DRAIN);
  await fleet.run(HOUR / 2);
  expect([await targets(), await tasks(), await copies()]).toEqual([[from], [], [from]]);
  expect(await eventsOf("EvictWorkloadFromClusterFailed")).toEqual([
    `Evict from cluster ${from} failed: scheduling of the binding is suspended`,
  ]);

  await fleet.client.patch(ResourceBinding, KEY, { spec: { suspension: { scheduling: false } } }, { type: "merge" });
  await fleet.run(10 * SECOND);
  expect(await copies()).not.toContain(from);
});

test("a cluster-scoped object is evicted from a tainted member too", async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"] });
  await fleet.client.create(ClusterPropagationPolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: "roles" },
    spec: {
      resourceSelectors: [{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: "shopper" }],
      failover: { cluster: {} },
      placement: { spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }] },
    },
  });
  await fleet.client.create(ClusterRole, "hub", {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "shopper" },
    rules: [],
  });
  await fleet.run(10 * SECOND);
  const read = (): Promise<DeepReadonly<ClusterResourceBinding>> =>
    fleet.client.get(ClusterResourceBinding, { cluster: "hub", name: "shopper-clusterrole" });
  const [before] = (await read()).spec.clusters ?? [];

  await taint(before?.name ?? "", DRAIN);
  await fleet.run(10 * SECOND);

  const { spec, metadata } = await read();
  expect(spec.clusters).toEqual([{ name: before?.name === "member1" ? "member2" : "member1" }]);
  expect(spec.gracefulEvictionTasks ?? []).toEqual([]);
  expect(JSON.parse(metadata.annotations?.["flotilla.dev/moves"] ?? "[]")).toMatchObject([
    { from: before?.name, cause: "TaintUntolerated", actor: "TaintManager", ending: "Replaced" },
  ]);
});

test("a workload is not moved to a member used by its anti-affinity group, until the other one is deleted", async () => {
  const policy = onOneOf(["member1", "member2"], APPLICATION);
  Object.assign(policy.spec.placement ?? {}, { workloadAffinity: { antiAffinity: { groupByLabelKey: "team" } } });
  const red = (name: string): Deployment =>
    makeDeployment(`shop/${name}`)
      .replicas(2)
      .with(({ metadata }) => (metadata.labels = { team: "red" }))
      .build();
  fleet = await startTestFleet({ members: ["member1", "member2"] });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", policy);
  for (const name of ["web", "other"]) await fleet.client.create(Deployment, "hub", red(name));
  await fleet.run(10 * SECOND);
  const [from = ""] = await targets();

  await report(from, 0);
  await fleet.run(3 * MINUTE);

  expect(await tasks()).toEqual([]);
  expect((await binding()).status?.conditions).toContainEqual(
    expect.objectContaining({ type: "Scheduled", status: "True" }),
  );
  expect(await eventsOf("EvictWorkloadFromClusterFailed")).toContainEqual(
    expect.stringMatching(
      `cluster ${from} failed: no other cluster fits: .*cluster already has workload with the same anti-affinity group`,
    ),
  );

  await fleet.client.delete(Deployment, { cluster: "hub", namespace: "shop", name: "other" });
  await fleet.run(5 * SECOND);

  expect(await targets()).not.toEqual([from]);
});
