import { describe, expect, onTestFinished, test } from "vitest";
import { Cluster, ResourceBinding, type Placement } from "../../api/index.ts";
import { createFakeClock, silentLog, type DeepReadonly } from "../../base/index.ts";
import { createInformers, createManager, createStatusWriter } from "../../runtime/index.ts";
import { createFakeClient, makeBinding, makeDeployment, reconcileUntilQuiet } from "../../testing/index.ts";
import { createScheduleController } from "./controller.ts";
import type { SchedulePlan } from "./plan-schedule.ts";

const AGGREGATED: Placement = { replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Aggregated" } };
const KEY = { cluster: "hub", namespace: "shop", name: "web-deployment" };

function makeCluster(name: string, pods: number, change: (cluster: Cluster) => void = () => undefined): Cluster {
  const cluster: Cluster = {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Push" },
    status: { apiEnablements: [{ groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] }], resourceSummary: { allocatable: { pods: `${pods}` } } },
  };
  change(cluster);
  return cluster;
}

async function setUp() {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  const informers = createInformers({ client, clock, log: silentLog, scope: { cluster: "hub" } });
  const manager = createManager({ client, informers, clock, log: silentLog });
  const bindings = informers.of(ResourceBinding);
  const bindingStatus = createStatusWriter({ client, kind: ResourceBinding, lister: bindings, clock, windowMs: 0, log: silentLog });
  const decided: SchedulePlan[] = [];
  manager.add(createScheduleController({ client, bindings, clusters: informers.of(Cluster), bindingStatus, clock, onDecision: (_key, plan) => void decided.push(plan) }));
  const ending = new AbortController();
  onTestFinished(async () => {
    ending.abort();
    await manager.stop();
    await bindingStatus.close();
    informers.close();
  });
  manager.start(ending.signal);
  const settle = (): Promise<void> => reconcileUntilQuiet({ managers: [manager], server: client, others: [bindingStatus] });
  const report = async (cluster: Cluster): Promise<void> => {
    const { metadata } = await client.get(Cluster, { cluster: "hub", name: cluster.metadata.name });
    await client.updateStatus(Cluster, "hub", { ...cluster, metadata });
    await settle();
  };
  return {
    client,
    decided,
    settle,
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

describe("a binding without room", () => {
  test("is scheduled when a member has room again, after a pause and without anybody's help", async () => {
    const { client, join, settle, report, pass, read } = await setUp();
    await join(makeCluster("oslo", 3));
    await client.create(ResourceBinding, "hub", binding(AGGREGATED, 5));
    await settle();
    expect((await read()).status?.conditions).toMatchObject([{ type: "Scheduled", status: "False", reason: "Unschedulable", message: "failed to assign replicas: failed to scale up: Clusters available replicas 3 are not enough to schedule." }]);

    await report(makeCluster("oslo", 5));
    await pass(1000);

    expect((await read()).spec.clusters).toEqual([{ name: "oslo", replicas: 5 }]);
  });

  test("is left alone while members only report again, or have less", async () => {
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
  test("is not looked at for the load of members", async () => {
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

  test("that is duplicated goes to a new member", async () => {
    const { client, join, settle, read } = await setUp();
    await join(makeCluster("oslo", 9));
    await client.create(ResourceBinding, "hub", binding({}, 5));
    await settle();

    await join(makeCluster("paris", 9));
    await settle();

    expect((await read()).spec.clusters).toEqual([{ name: "oslo", replicas: 5 }, { name: "paris", replicas: 5 }]);
  });

  test("stays where it runs when its placement means no cluster any more, and says why", async () => {
    const { client, join, settle, read } = await setUp();
    await join(makeCluster("oslo", 9));
    await client.create(ResourceBinding, "hub", binding({}, 5));
    await settle();

    await client.patch(ResourceBinding, KEY, { spec: { placement: { clusterAffinity: { clusterNames: ["rome"] } } } }, { type: "merge" });
    await settle();

    expect((await read()).spec.clusters).toEqual([{ name: "oslo", replicas: 5 }]);
    expect((await read()).status?.conditions).toMatchObject([{ type: "Scheduled", status: "False", reason: "NoClusterFit" }]);
  });

  test("keeps the order in which another scheduler wrote its clusters", async () => {
    const { client, join, settle, pass, read } = await setUp();
    await join(makeCluster("oslo", 9));
    await join(makeCluster("paris", 9));
    const moved = binding({}, 5);
    moved.metadata.annotations = { "policy.karmada.io/applied-placement": "{}" };
    moved.spec.clusters = [{ name: "paris", replicas: 5 }, { name: "oslo", replicas: 5 }];

    await client.create(ResourceBinding, "hub", moved);
    await settle();
    await pass(60_000);

    expect((await read()).spec.clusters?.map(({ name }) => name)).toEqual(["paris", "oslo"]);
  });
});

test("a binding returns to its first affinity when its time has come, and what it leaves is evicted gracefully", async () => {
  const { client, join, settle, report, pass, read } = await setUp();
  await join(makeCluster("oslo", 3));
  await join(makeCluster("paris", 9));
  const placement: Placement = { ...AGGREGATED, clusterAffinities: [{ affinityName: "home", clusterNames: ["oslo"] }, { affinityName: "away", clusterNames: ["paris"] }] };
  const wanting = binding(placement, 5);
  wanting.metadata.annotations = { "flotilla.dev/return-after-seconds": "300" };
  await client.create(ResourceBinding, "hub", wanting);
  await settle();
  expect(await read()).toMatchObject({ spec: { clusters: [{ name: "paris" }] }, status: { schedulerObservingAffinityName: "away" } });

  await report(makeCluster("oslo", 9));
  await pass(60_000);
  expect((await read()).spec.clusters).toMatchObject([{ name: "paris" }]);
  await pass(240_000);

  expect(await read()).toMatchObject({ spec: { clusters: [{ name: "oslo", replicas: 5 }], gracefulEvictionTasks: [{ fromCluster: "paris", purgeMode: "Gracefully" }] }, status: { schedulerObservingAffinityName: "home" } });
});
