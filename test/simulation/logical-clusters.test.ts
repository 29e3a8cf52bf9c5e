/**
 * Logical clusters that are not members: Flotilla serves their API and leaves their workloads to external controllers.
 */
import { expect, test } from "vitest";
import { Cluster } from "@flotilla/karmada";
import { Deployment, Lease, Node, ReplicaSet } from "@flotilla/kubernetes";
import { LogicalCluster } from "@flotilla/apiserver";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment } from "@flotilla/testing/builders.ts";

const addLogicalCluster = (fleet: TestFleet, name: string): Promise<unknown> =>
  fleet.client.create(LogicalCluster, "hub", {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "LogicalCluster",
    metadata: { name },
    spec: { profile: "empty" },
  });
const replicaSets = async ({ client }: TestFleet, cluster: string): Promise<number> =>
  (await client.list(ReplicaSet, { cluster, namespace: "default" })).items.length;

test("nothing runs in an empty cluster", async () => {
  const fleet = await startTestFleet({ members: ["member1"], nodes: 2 });
  await addLogicalCluster(fleet, "spare");
  await fleet.settle();

  for (const cluster of ["spare", "member1"])
    await fleet.client.create(Deployment, cluster, makeDeployment("default/web").build());
  await fleet.run(60_000);

  expect([await replicaSets(fleet, "spare"), await replicaSets(fleet, "member1")]).toEqual([0, 1]);
  await fleet.stop();
});

test("a member with its own kube-controller-manager is left to it until its lease expires", async () => {
  const fleet = await startTestFleet({ members: ["member1"], nodes: 2 });
  await fleet.client.create(Lease, "member1", {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "kube-controller-manager", namespace: "kube-system" },
    spec: { holderIdentity: "outside", leaseDurationSeconds: 15 },
  });
  await fleet.settle();

  await fleet.client.create(Deployment, "member1", makeDeployment("default/web").build());
  await fleet.run(10_000);
  const whileHeld = await replicaSets(fleet, "member1");
  await fleet.run(30_000);

  expect([whileHeld, await replicaSets(fleet, "member1")]).toEqual([0, 1]);
  await fleet.stop();
});

test("a cluster created through the API is not a member after a restart either", async () => {
  const engine = createLastingEngine();
  const options = { members: ["member1"], nodes: 2, engine };
  const first = await startTestFleet(options);
  await addLogicalCluster(first, "spare");
  await first.run(1_000);
  await first.stop();

  const second = await startTestFleet(options);

  expect((await second.client.list(Cluster, { cluster: "hub" })).items.map(({ metadata }) => metadata.name)).toEqual([
    "member1",
  ]);
  expect((await second.client.list(Node, { cluster: "spare" })).items).toEqual([]);
  await second.stop();
});
