/** A drained member: workloads leave it although no policy configures failover, each after its replacement is healthy. */
import { afterEach, expect, test } from "vitest";
import { Cluster, ClusterPropagationPolicy, PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { CustomResourceDefinition, Deployment, Namespace } from "@flotilla/kubernetes";
import { DRAIN_TAINT } from "@flotilla/flotilla";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { runCommand } from "./run-command.ts";

const SECOND = 1_000;
const MEMBERS = ["member1", "member2", "member3"];
const WORKLOADS = ["a", "b", "c", "d", "e", "f"];

let fleet: TestFleet;
afterEach(() => fleet.stop());

type Placement = NonNullable<PropagationPolicy["spec"]["placement"]>;

async function start(placement: Placement, nodes?: number): Promise<void> {
  fleet = await startTestFleet({ members: MEMBERS, nodes });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/web")
    .selects("apps/v1", "Deployment")
    .with(({ spec }) => (spec.placement = placement));
  await fleet.client.create(PropagationPolicy, "hub", policy.build());
  for (const name of WORKLOADS)
    await fleet.client.create(Deployment, "hub", makeDeployment(`shop/${name}`).replicas(6).build());
  await fleet.run(10 * SECOND);
}

async function setTaints(...taints: { key: string; effect: string }[]): Promise<void> {
  await fleet.client.patch(Cluster, { cluster: "hub", name: "member2" }, { spec: { taints } }, { type: "merge" });
  await fleet.run(2 * SECOND);
}

async function bindings() {
  return (await fleet.client.list(ResourceBinding, { cluster: "hub" })).items;
}
const onMember2 = async (): Promise<number> =>
  (await bindings()).filter(({ spec }) => spec.clusters?.some(({ name }) => name === "member2")).length;

test("every workload leaves at once, without a failover policy and without the eviction rate of failures", async () => {
  await start({ replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" } });
  expect(await onMember2()).toBe(WORKLOADS.length);

  await setTaints({ key: DRAIN_TAINT, effect: "NoExecute" });

  expect(await onMember2()).toBe(0);
  for (const { spec } of await bindings()) {
    expect(spec.gracefulEvictionTasks).toMatchObject([{ fromCluster: "member2", purgeMode: "Gracefully" }]);
    expect(spec.clusters?.reduce((sum, { replicas = 0 }) => sum + replicas, 0)).toBe(6);
  }
});

test("another NoExecute taint alone moves nothing if no policy configures failover", async () => {
  await start({ replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" } });

  await setTaints({ key: "maintenance", effect: "NoExecute" });

  expect(await onMember2()).toBe(WORKLOADS.length);
});

test("a policy that tolerates the drain keeps its workloads there", async () => {
  await start({ clusterTolerations: [{ key: DRAIN_TAINT, operator: "Exists" }] });

  await setTaints({ key: DRAIN_TAINT, effect: "NoExecute" });

  expect(await onMember2()).toBe(WORKLOADS.length);
});

test("a workload that arrives while the member is drained leaves too", async () => {
  await start({ clusterAffinity: { clusterNames: ["member1", "member2"] } });
  await setTaints({ key: DRAIN_TAINT, effect: "NoExecute" });
  const [first] = await bindings();
  const key = { cluster: "hub", namespace: "shop", name: first?.metadata.name ?? "" };

  // As a scheduler that decided before it saw the taint.
  await fleet.client.patch(
    ResourceBinding,
    key,
    { spec: { clusters: [{ name: "member1" }, { name: "member2" }], gracefulEvictionTasks: null } },
    { type: "merge" },
  );
  await fleet.run(2 * SECOND);

  expect((await fleet.client.get(ResourceBinding, key)).spec.clusters?.map(({ name }) => name)).toEqual(["member1"]);
});

test("the command shows why a replacement does not become healthy, while it waits and when it gives up", async () => {
  await start({ clusterAffinity: { clusterNames: ["member1", "member2"] } }, 2);
  const template = { spec: { containers: [{ name: "web", image: "web:broken" }] } };
  const key = { cluster: "hub", namespace: "shop", name: "a" };
  await fleet.client.patch(Deployment, key, { spec: { template } }, { type: "merge" });
  await fleet.run(5 * SECOND);
  const steps: string[] = [];
  const hub = { client: fleet.client, clock: fleet.clock, progress: (step: string) => void steps.push(step) };

  const drained = runCommand(hub, "drain", "member2", "--timeout", "60").catch(String);
  await fleet.run(70 * SECOND);

  const cause =
    /Deployment shop\/a: waits until it is healthy on member1 \(\d pods? waits? on member1: ImagePullBackOff: image web:broken\)/;
  expect(steps.findLast((step) => step !== "")).toMatch(cause);
  expect(await drained).toMatch(cause);
});

test("the command lists what stays on a drained member, such as CRDs, and what cannot leave, before anything leaves", async () => {
  await start({ clusterAffinity: { clusterNames: ["member1", "member2"] } }, 2);
  await fleet.client.create(ClusterPropagationPolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: "definitions" },
    spec: {
      resourceSelectors: [
        {
          apiVersion: "apiextensions.k8s.io/v1",
          kind: "CustomResourceDefinition",
          name: "persistentpodstates.apps.kruise.io",
        },
      ],
      placement: { clusterAffinity: { clusterNames: ["member1", "member2"] } },
      conflictResolution: "Overwrite",
    },
  });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "fixed" } });
  const fixed = makePolicy("fixed/web").selects("apps/v1", "Deployment");
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    fixed.with(({ spec }) => (spec.placement = { clusterAffinity: { clusterNames: ["member2"] } })).build(),
  );
  await fleet.client.create(Deployment, "hub", makeDeployment("fixed/web").replicas(1).build());
  await fleet.run(10 * SECOND);
  const leaves =
    "leaves member2: Deployment shop/a, Deployment shop/b, Deployment shop/c, Deployment shop/d, Deployment shop/e, Deployment shop/f";
  const cannot =
    "cannot leave member2 (0/2 clusters are available: 2 cluster(s) did not match the placement cluster affinity constraint): Deployment fixed/web";
  const stays =
    "stays on member2 (cluster-scoped, and its policy has no failover.cluster): CustomResourceDefinition persistentpodstates.apps.kruise.io";

  const planned = await runCommand(fleet, "drain", "member2", "--dry-run");
  const asJson = JSON.parse((await runCommand(fleet, "drain", "member2", "--dry-run", "-o", "json")).text) as unknown;
  expect(asJson).toMatchObject({ member: "member2", losesData: [], manifestWorks: [], fitsChecked: true });
  const before = await onMember2();
  await fleet.client.delete(Deployment, { cluster: "hub", namespace: "fixed", name: "web" });
  await fleet.run(SECOND);
  const drained = runCommand(fleet, "drain", "member2", "--timeout", "60");
  await fleet.run(70 * SECOND);

  expect(planned.text).toBe(`${leaves}\n${cannot}\n${stays}\n`);
  expect(before).toBe(WORKLOADS.length + 1);
  expect((await drained).text).toContain(stays);
  expect((await drained).text).toContain("member2 is drained");
  expect(await onMember2()).toBe(0);
  const definitions = await fleet.client.list(CustomResourceDefinition, { cluster: "member2" });
  expect(definitions.items.map(({ metadata }) => metadata.name)).toContain("persistentpodstates.apps.kruise.io");
});
