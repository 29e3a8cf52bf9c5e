import { describe, expect, onTestFinished, test } from "vitest";
import { Cluster, ResourceBinding } from "@flotilla/karmada";
import { type Placement } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { createFakeClock, silentLog, type DeepReadonly } from "@flotilla/base";
import { createInformers, createManager, createStatusWriter } from "@flotilla/controller-runtime";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import { createScheduleController } from "./schedule-controller.ts";
import type { SchedulePlan } from "./plan-schedule.ts";
import { createWorkloadGroups, followBindings } from "./workload-groups.ts";

const AGGREGATED: Placement = {
  replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Aggregated" },
};
const KEY = { cluster: "hub", namespace: "shop", name: "web-deployment" };

function makeCluster(name: string, pods: number, change: (cluster: Cluster) => void = () => undefined): Cluster {
  const cluster: Cluster = {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Push" },
    status: {
      apiEnablements: [{ groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] }],
      resourceSummary: { allocatable: { pods: `${pods}` } },
    },
  };
  change(cluster);
  return cluster;
}

async function setUp(clock = createFakeClock(), client = createFakeClient({ clock })) {
  const informers = createInformers({ client, clock, log: silentLog, scope: { cluster: "hub" } });
  const manager = createManager({ client, informers, clock, log: silentLog });
  const bindings = informers.of(ResourceBinding);
  const bindingStatus = createStatusWriter({
    client,
    kind: ResourceBinding,
    lister: bindings,
    clock,
    windowMs: 0,
    log: silentLog,
  });
  const groups = createWorkloadGroups();
  followBindings(groups, bindings);
  const decided: SchedulePlan[] = [];
  /** The names of bindings that got clusters, in this order. */
  const placed: string[] = [];
  const reported: string[] = [];
  manager.add(
    createScheduleController({
      client,
      bindings,
      clusters: informers.of(Cluster),
      groups,
      bindingStatus,
      events: {
        record: (_cluster, { kind, metadata }, { reason, message }) =>
          void reported.push(`${kind} ${metadata.name}: ${reason} ${message}`),
      },
      clock,
      onDecision({ name }, plan) {
        decided.push(plan);
        if (plan.outcome === "scheduled") placed.push(name);
      },
    }),
  );
  const ending = new AbortController();
  onTestFinished(async () => {
    ending.abort();
    await manager.stop();
    await bindingStatus.close();
    informers.close();
  });
  manager.start(ending.signal);
  const settle = (): Promise<void> =>
    reconcileUntilQuiet({ managers: [manager], server: client, others: [bindingStatus] });
  const report = async (cluster: Cluster): Promise<void> => {
    const { metadata } = await client.get(Cluster, { cluster: "hub", name: cluster.metadata.name });
    await client.updateStatus(Cluster, "hub", { ...cluster, metadata });
    await settle();
  };
  return {
    clock,
    client,
    decided,
    placed,
    reported,
    settle,
    async stop() {
      await manager.stop();
      await bindingStatus.close();
    },
    async pass(ms: number) {
      clock.advance(ms);
      await settle();
    },
    report,
    async join(cluster: Cluster) {
      await client.create(Cluster, "hub", cluster);
      await report(cluster);
    },
    read: (): Promise<DeepReadonly<ResourceBinding>> => client.get(ResourceBinding, KEY),
  };
}

const binding = (placement: Placement, replicas: number): ResourceBinding =>
  makeBinding(makeDeployment("shop/web").build())
    .with(({ spec }) => Object.assign(spec, { placement, replicas }))
    .build();

describe("an unschedulable binding", () => {
  test("is scheduled when a member has room again, after a pause", async () => {
    const { client, join, settle, report, pass, read } = await setUp();
    await join(makeCluster("oslo", 3));
    await client.create(ResourceBinding, "hub", binding(AGGREGATED, 5));
    await settle();
    expect((await read()).status?.conditions).toMatchObject([
      {
        type: "Scheduled",
        status: "False",
        reason: "Unschedulable",
        message:
          "failed to assign replicas: failed to scale up: Clusters available replicas 3 are not enough to schedule.",
      },
    ]);

    await report(makeCluster("oslo", 5));
    await pass(1000);

    expect((await read()).spec.clusters).toEqual([{ name: "oslo", replicas: 5 }]);
  });

  test("is not retried while members only report again, or have less room", async () => {
    const { client, join, decided, settle, report, pass } = await setUp();
    await join(makeCluster("oslo", 3));
    await client.create(ResourceBinding, "hub", binding(AGGREGATED, 5));
    await settle();
    decided.length = 0;

    await report(makeCluster("oslo", 3, ({ status }) => Object.assign(status ?? {}, { kubernetesVersion: "v1.36.0" })));
    await report(makeCluster("oslo", 2));
    await pass(60_000);

    expect(decided).toEqual([]);
  });
});

describe("a scheduled binding", () => {
  test("is not reconciled on load changes of members", async () => {
    const { client, join, decided, settle, report, pass } = await setUp();
    await join(makeCluster("oslo", 9));
    await client.create(ResourceBinding, "hub", binding(AGGREGATED, 5));
    await settle();
    decided.length = 0;

    await report(makeCluster("oslo", 4));
    await report(makeCluster("oslo", 90));
    await pass(60_000);

    expect(decided).toEqual([]);
  });

  test("is not written again when a new member changes nothing for it", async () => {
    const { client, join, settle, pass } = await setUp();
    await join(makeCluster("oslo", 9));
    await client.create(ResourceBinding, "hub", binding(AGGREGATED, 5));
    await settle();
    await pass(60_000);
    const before = client.writes.length;

    await join(makeCluster("paris", 9));
    await settle();
    await pass(60_000);

    expect(client.writes.slice(before).filter(({ kind }) => kind !== "Cluster")).toEqual([]);
  });

  test("a scheduled binding with Duplicated is placed on a new member", async () => {
    const { client, join, settle, read } = await setUp();
    await join(makeCluster("oslo", 9));
    await client.create(ResourceBinding, "hub", binding({}, 5));
    await settle();

    await join(makeCluster("paris", 9));
    await settle();

    expect((await read()).spec.clusters).toEqual([
      { name: "oslo", replicas: 5 },
      { name: "paris", replicas: 5 },
    ]);
  });

  test("stays in place when its placement matches no cluster any more, and reports the reason", async () => {
    const { client, join, settle, read } = await setUp();
    await join(makeCluster("oslo", 9));
    await client.create(ResourceBinding, "hub", binding({}, 5));
    await settle();

    await client.patch(
      ResourceBinding,
      KEY,
      { spec: { placement: { clusterAffinity: { clusterNames: ["rome"] } } } },
      { type: "merge" },
    );
    await settle();

    expect((await read()).spec.clusters).toEqual([{ name: "oslo", replicas: 5 }]);
    expect((await read()).status?.conditions).toMatchObject([
      { type: "Scheduled", status: "False", reason: "NoClusterFit" },
    ]);
  });

  test("keeps the cluster order of another scheduler", async () => {
    const { client, join, settle, pass, read } = await setUp();
    await join(makeCluster("oslo", 9));
    await join(makeCluster("paris", 9));
    const moved = binding({}, 5);
    moved.metadata.annotations = { "policy.karmada.io/applied-placement": "{}" };
    moved.spec.clusters = [
      { name: "paris", replicas: 5 },
      { name: "oslo", replicas: 5 },
    ];

    await client.create(ResourceBinding, "hub", moved);
    await settle();
    await pass(60_000);

    expect((await read()).spec.clusters?.map(({ name }) => name)).toEqual(["paris", "oslo"]);
  });
});

test("a binding returns to its first affinity when it is due, with graceful eviction from the others", async () => {
  const { client, join, settle, report, pass, read } = await setUp();
  await join(makeCluster("oslo", 3));
  await join(makeCluster("paris", 9));
  const placement: Placement = {
    ...AGGREGATED,
    clusterAffinities: [
      { affinityName: "home", clusterNames: ["oslo"] },
      { affinityName: "away", clusterNames: ["paris"] },
    ],
  };
  const wanting = binding(placement, 5);
  wanting.metadata.annotations = { "flotilla.dev/return-after-seconds": "300" };
  await client.create(ResourceBinding, "hub", wanting);
  await settle();
  expect(await read()).toMatchObject({
    spec: { clusters: [{ name: "paris" }] },
    status: { schedulerObservingAffinityName: "away" },
  });

  await report(makeCluster("oslo", 9));
  await pass(60_000);
  expect((await read()).spec.clusters).toMatchObject([{ name: "paris" }]);
  await pass(240_000);

  expect(await read()).toMatchObject({
    spec: {
      clusters: [{ name: "oslo", replicas: 5 }],
      gracefulEvictionTasks: [{ fromCluster: "paris", purgeMode: "Gracefully" }],
    },
    status: { schedulerObservingAffinityName: "home" },
  });
});

describe("bindings with priorities", () => {
  const urgent = (name: string, priority: number | undefined): ResourceBinding =>
    makeBinding(makeDeployment(`shop/${name}`).build())
      .with(({ spec }) =>
        Object.assign(spec, {
          placement: AGGREGATED,
          replicas: 5,
          schedulePriority: priority !== undefined ? { priority } : undefined,
        }),
      )
      .build();
  const PRIORITIES = { plain: undefined, low: -10, high: 1000, middle: 7, urgent: 1000 };
  const ORDER = ["high-deployment", "urgent-deployment", "middle-deployment", "plain-deployment", "low-deployment"];

  test("are placed by priority when capacity appears, regardless of their waiting time", async () => {
    const { client, join, settle, report, pass, placed } = await setUp();
    await join(makeCluster("oslo", 3));
    for (const [name, priority] of Object.entries(PRIORITIES)) {
      await client.create(ResourceBinding, "hub", urgent(name, priority));
      await settle();
      await pass(700);
    }

    await report(makeCluster("oslo", 99));
    await pass(10_000);

    expect(placed).toEqual(ORDER);
  });

  test("are placed by priority when a member joins", async () => {
    const { client, join, settle, placed } = await setUp();
    for (const [name, priority] of Object.entries(PRIORITIES))
      await client.create(ResourceBinding, "hub", urgent(name, priority));
    await settle();

    await join(makeCluster("oslo", 99));

    expect(placed).toEqual(ORDER);
  });

  test("are placed by priority after a restart", async () => {
    const before = await setUp();
    for (const [name, priority] of Object.entries(PRIORITIES))
      await before.client.create(ResourceBinding, "hub", urgent(name, priority));
    await before.settle();
    await before.stop();
    await before.join(makeCluster("oslo", 99));

    const after = await setUp(before.clock, before.client);
    await after.settle();

    expect(after.placed).toEqual(ORDER);
  });

  test("are retried after five minutes even without a capacity change", async () => {
    const { client, join, settle, pass, decided } = await setUp();
    await join(makeCluster("oslo", 3));
    await client.create(ResourceBinding, "hub", urgent("web", 5));
    await settle();
    decided.length = 0;

    await pass(299_000);
    expect(decided).toEqual([]);
    await pass(1_000);

    expect(decided).toMatchObject([{ outcome: "unschedulable" }]);
  });
});

describe("workload groups", () => {
  const member = (
    name: string,
    workloadAffinityGroups: NonNullable<ResourceBinding["spec"]["workloadAffinityGroups"]>,
    placement = AGGREGATED,
  ): ResourceBinding =>
    makeBinding(makeDeployment(`shop/${name}`).build())
      .with(({ spec }) => Object.assign(spec, { placement, replicas: 2, workloadAffinityGroups }))
      .build();
  const APART = { antiAffinityGroup: "app=db" };
  const TOGETHER = { affinityGroup: "app=db" };
  async function fleetOf(...names: string[]) {
    const fleet = await setUp();
    for (const [index, name] of names.entries()) await fleet.join(makeCluster(name, 90 - index));
    const where = async (name: string): Promise<(string | undefined)[]> =>
      (await fleet.client.get(ResourceBinding, { ...KEY, name: `${name}-deployment` })).spec.clusters?.map(
        (target) => target.name,
      ) ?? [];
    return { ...fleet, where };
  }

  test("workload groups with anti-affinity are separated even when scheduled simultaneously; a surplus one waits and reports the reason", async () => {
    const { client, settle, where } = await fleetOf("oslo", "paris");
    for (const name of ["a", "b", "c"]) await client.create(ResourceBinding, "hub", member(name, APART));
    await settle();

    const places = [...(await where("a")), ...(await where("b")), ...(await where("c"))];

    expect(new Set(places)).toEqual(new Set(["oslo", "paris"]));
    expect(places.length).toBe(2);
    const waiting = (await client.list(ResourceBinding, { cluster: "hub" })).items.find(
      ({ spec }) => !spec.clusters?.length,
    );
    expect(waiting?.status?.conditions).toMatchObject([
      {
        status: "False",
        reason: "NoClusterFit",
        message: "0/2 clusters are available: 2 cluster already has workload with the same anti-affinity group.",
      },
    ]);
  });

  test("workload groups with anti-affinity place a waiting binding when another one leaves", async () => {
    const { client, settle, pass, where } = await fleetOf("oslo");
    await client.create(ResourceBinding, "hub", member("a", APART));
    await settle();
    await client.create(ResourceBinding, "hub", member("b", APART));
    await settle();
    expect(await where("b")).toEqual([]);

    await client.delete(ResourceBinding, { ...KEY, name: "a-deployment" });
    await settle();
    await pass(1000);

    expect(await where("b")).toEqual(["oslo"]);
  });

  test("workload groups with affinity follow the first binding, until it is deleted", async () => {
    const { client, settle, where } = await fleetOf("oslo", "paris");
    await client.create(
      ResourceBinding,
      "hub",
      member("first", TOGETHER, { clusterAffinity: { clusterNames: ["paris"] } }),
    );
    await settle();
    await client.create(ResourceBinding, "hub", member("second", TOGETHER, {}));
    await settle();
    expect(await where("second")).toEqual(["paris"]);

    await client.delete(ResourceBinding, { ...KEY, name: "first-deployment" });
    await settle();

    expect(await where("second")).toEqual(["oslo", "paris"]);
  });

  test("workload groups with affinity move to another cluster together", async () => {
    const { client, settle, pass, where } = await fleetOf("oslo", "paris");
    for (const name of ["a", "b"]) await client.create(ResourceBinding, "hub", member(name, TOGETHER));
    await settle();
    expect([await where("a"), await where("b")]).toEqual([["oslo"], ["oslo"]]);

    const leave = {
      spec: { gracefulEvictionTasks: [{ fromCluster: "oslo", reason: "TaintUntolerated", producer: "TaintManager" }] },
    };
    for (const name of ["a", "b"]) {
      await client.patch(ResourceBinding, { ...KEY, name: `${name}-deployment` }, leave, { type: "merge" });
      await settle();
    }
    await pass(1000);

    expect([await where("a"), await where("b")]).toEqual([["paris"], ["paris"]]);
  });

  test("workload groups of another namespace are another group", async () => {
    const { client, settle, where } = await fleetOf("oslo");
    const elsewhere = member("a", APART);
    elsewhere.metadata.namespace = "bank";
    await client.create(ResourceBinding, "hub", elsewhere);
    await client.create(ResourceBinding, "hub", member("b", APART));
    await settle();

    expect(await where("b")).toEqual(["oslo"]);
  });

  test("do not move running bindings that join a group later", async () => {
    const { client, settle, where } = await fleetOf("oslo");
    await client.create(ResourceBinding, "hub", member("a", {}));
    await client.create(ResourceBinding, "hub", member("b", {}));
    await settle();

    for (const name of ["a", "b"])
      await client.patch(
        ResourceBinding,
        { ...KEY, name: `${name}-deployment` },
        {
          spec: {
            workloadAffinityGroups: APART,
            placement: { workloadAffinity: { antiAffinity: { groupByLabelKey: "app" } } },
          },
        },
        { type: "merge" },
      );
    await settle();

    expect([await where("a"), await where("b")]).toEqual([["oslo"], ["oslo"]]);
  });
});

describe("events", () => {
  test("report a failure once, and its recovery, on the binding and on its template", async () => {
    const { client, join, settle, report, pass, reported } = await setUp();
    await join(makeCluster("oslo", 3));
    await client.create(ResourceBinding, "hub", binding(AGGREGATED, 5));
    await settle();
    await report(makeCluster("oslo", 4));
    await pass(1000);
    await pass(300_000);

    await report(makeCluster("oslo", 5));
    await pass(10_000);

    expect(reported).toEqual([
      "ResourceBinding web-deployment: ScheduleBindingFailed failed to assign replicas: failed to scale up: " +
        "Clusters available replicas 3 are not enough to schedule.",
      "Deployment web: ScheduleBindingFailed failed to assign replicas: failed to scale up: Clusters available replicas 3 are not enough to schedule.",
      "ResourceBinding web-deployment: ScheduleBindingSucceed Binding has been scheduled successfully. Result: {oslo:5}",
      "Deployment web: ScheduleBindingSucceed Binding has been scheduled successfully. Result: {oslo:5}",
    ]);
  });

  test("do not report ordinary successes", async () => {
    const { client, join, settle, reported } = await setUp();
    await join(makeCluster("oslo", 9));
    await client.create(ResourceBinding, "hub", binding(AGGREGATED, 5));
    await settle();

    expect(reported).toEqual([]);
  });
});
