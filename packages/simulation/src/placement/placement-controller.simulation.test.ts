/** Placement on a simulated member: pending pods, retries, and preemption. */
import { describe, expect, test } from "vitest";
import { Node, Pod } from "@flotilla/kubernetes";
import type { PodSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { PriorityClass } from "@flotilla/kubernetes";
import { MEMBER, conditionsOf, isReady, makePod, startTestMember } from "@flotilla/testing/simulation/member.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import type { TestMember, TestMemberOptions } from "@flotilla/testing/simulation/member.ts";

async function start(options: TestMemberOptions = {}): Promise<TestMember> {
  const member = await startTestMember(options);
  return endsWithTest(member);
}
const asks = (cpu: string, rest: Partial<PodSpec> = {}): Partial<PodSpec> => ({
  containers: [{ name: "main", image: "web:1", resources: { requests: { cpu } } }],
  ...rest,
});
const nodesOf = async (member: TestMember) =>
  Object.fromEntries(
    (await member.client.list(Pod, { cluster: MEMBER })).items.map(({ metadata, spec }) => [
      metadata.name,
      spec.nodeName,
    ]),
  );
const priority = (name: string, value: number): PriorityClass => ({
  apiVersion: "scheduling.k8s.io/v1",
  kind: "PriorityClass",
  metadata: { name },
  value,
});

test("a bound pod has the topology labels of its node", async () => {
  const member = await start();

  await member.create(makePod("a", {}, {}, { labels: { app: "web" } }));

  expect((await member.pod("a")).metadata.labels).toEqual({
    app: "web",
    "topology.kubernetes.io/region": "r1",
    "topology.kubernetes.io/zone": "a",
  });
});

describe("a pod that fits on no node", () => {
  test("reports the reason once, and is placed when another pod makes room", async () => {
    const member = await start({ nodes: 1, nodeOptions: { cpu: "4" } });
    await member.create(makePod("a", asks("3")), makePod("b", asks("3")));
    const waiting = await member.pod("b");
    member.writes.reset();

    await member.pass(600_000);
    const idle = member.writes.total();
    await member.delete(Pod, "a");
    await member.pass(1_000);

    expect(conditionsOf(waiting)["PodScheduled"]).toBe("False Unschedulable");
    expect(member.events).toEqual([
      "Pod/b Warning FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are " +
        "available: 1 No preemption victims found for incoming pod.",
    ]);
    expect([idle, await nodesOf(member), isReady(await member.pod("b"))]).toEqual([0, { b: "node-000" }, true]);
  });

  test("is placed when a suitable node is added", async () => {
    const member = await start({ nodes: 2 });
    await member.create(makePod("a", { nodeSelector: { "kubernetes.io/hostname": "node-002" } }));

    await member.simulation.ensureNodes(MEMBER, 3);
    await member.pass(1_000);

    expect(await nodesOf(member)).toEqual({ a: "node-002" });
  });

  test("is placed when a pod that matches its affinity appears", async () => {
    const member = await start();
    await member.create(
      makePod("a", {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "db" } } },
            ],
          },
        },
      }),
    );

    await member.create(makePod("db", { nodeName: "node-001" }, {}, { labels: { app: "db" } }));
    await member.pass(1_000);

    expect((await member.pod("a")).spec.nodeName).toBe("node-001");
  });

  test("is retried at most once a second, however many pods leave", async () => {
    const member = await start({ nodes: 1, nodeOptions: { cpu: "4", pods: "500" } });
    await member.create(
      ...Array.from({ length: 50 }, (_, index) => makePod(`small${index}`, asks("10m"))),
      makePod("big", asks("8")),
    );
    member.writes.reset();

    for (let index = 0; index < 50; index++) await member.delete(Pod, `small${index}`);
    await member.pass(10_000);

    expect(member.writes.total({ subresource: "status" })).toBe(0);
    expect(conditionsOf(await member.pod("big"))["PodScheduled"]).toBe("False Unschedulable");
  });
});

describe("a pod that placement skips", () => {
  const cases: Record<string, Partial<PodSpec>> = {
    "has another schedulerName": { schedulerName: "mine" },
    "has a scheduling gate": { schedulingGates: [{ name: "example.com/wait" }] },
  };
  for (const [behaviour, spec] of Object.entries(cases)) {
    test(behaviour, async () => {
      const member = await start();

      await member.create(makePod("a", spec));
      await member.pass(60_000);

      expect([await nodesOf(member), member.writes.total()]).toEqual([{ a: undefined }, 0]);
    });
  }

  test("is placed when its last scheduling gate is removed", async () => {
    const member = await start();
    await member.create(makePod("a", { schedulingGates: [{ name: "example.com/wait" }] }));

    await member.change(Pod, "a", (pod) => ({ ...pod, spec: { ...pod.spec, schedulingGates: [] } }));

    expect(isReady(await member.pod("a"))).toBe(true);
  });
});

test("a pod of higher priority preempts one of lower priority, with an event", async () => {
  const member = await start({
    nodes: 1,
    nodeOptions: { cpu: "4" },
    objects: [priority("high", 1000)],
    times: { startMs: 0, stopMs: 5_000 },
  });
  await member.create(makePod("low", asks("3")));

  await member.create(makePod("high", asks("3", { priorityClassName: "high" })));
  const [victim, waiting] = [await member.pod("low"), await member.pod("high")];
  await member.create(makePod("thief", asks("3")));
  await member.pass(10_000);

  expect([
    victim.metadata.deletionTimestamp !== undefined,
    conditionsOf(victim)["DisruptionTarget"],
    waiting.status?.nominatedNodeName,
  ]).toEqual([true, "True PreemptionByScheduler", "node-000"]);
  expect(member.events[0]).toBe(`Pod/low Normal Preempted: Preempted by pod ${waiting.metadata.uid} on node node-000`);
  const placed = await member.pod("high");
  expect([
    placed.spec.nodeName,
    isReady(placed),
    placed.status?.nominatedNodeName,
    (await member.pod("thief")).spec.nodeName,
  ]).toEqual(["node-000", true, undefined, undefined]);
});

test("draining a node moves its pods to other nodes", async () => {
  const member = await start({ nodes: 2 });
  await member.create(makePod("a", { nodeSelector: {} }), makePod("b"));

  await member.change(Node, "node-000", (node) => ({ ...node, spec: { ...node.spec, unschedulable: true } }));
  for (const [name, node] of Object.entries(await nodesOf(member))) {
    if (node !== "node-000") continue;
    const { status } = await member.client.raw({
      cluster: MEMBER,
      method: "POST",
      path: `/api/v1/namespaces/shop/pods/${name}/eviction`,
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name } })),
    });
    expect(status).toBe(201);
  }
  await member.create(makePod("c"));
  await member.pass(1_000);

  expect(new Set(Object.values(await nodesOf(member)))).toEqual(new Set(["node-001"]));
});
