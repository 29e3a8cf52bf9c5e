/** Nodes that are lost, return, are cordoned or tainted, and the effect on their pods. */
import { describe, expect, test } from "vitest";
import { Node, Pod } from "@flotilla/kubernetes";
import type { Taint, Toleration } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER, conditionsOf, isReady, makePod, startTestMember } from "@flotilla/testing/simulation/member.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import type { TestMember, TestMemberOptions } from "@flotilla/testing/simulation/member.ts";

async function start(options: TestMemberOptions = {}): Promise<TestMember> {
  const member = await startTestMember(options);
  return endsWithTest(member);
}
const annotate = (member: TestMember, name: string, value: string | undefined): Promise<void> =>
  member.change(Node, name, (node) => ({
    ...node,
    metadata: {
      ...node.metadata,
      annotations: Object.fromEntries(value === undefined ? [] : [["simulation.flotilla.dev/fault", value]]),
    },
  }));
const readyOf = ({ status }: DeepReadonly<Node>): string | undefined =>
  status?.conditions?.find(({ type }) => type === "Ready")?.status;
const taintsOf = ({ spec }: DeepReadonly<Node>): string[] =>
  (spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
const tolerationFor = (tolerationSeconds: number): Toleration => ({
  key: "node.kubernetes.io/unreachable",
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds,
});
const pin = (name: string) => ({ nodeName: name });

describe("a lost node", () => {
  test("counts as ready for the grace period, then is Unknown and tainted, and its pods are not ready", async () => {
    const member = await start();
    await member.create(makePod("a", pin("node-000")));

    await annotate(member, "node-000", "lost");
    await member.pass(49_999);
    const believed = await member.node("node-000");
    await member.pass(1);
    const lost = await member.node("node-000");

    expect([readyOf(believed), taintsOf(believed)]).toEqual(["True", []]);
    expect([readyOf(lost), taintsOf(lost)]).toEqual([
      "Unknown",
      ["node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"],
    ]);
    expect(conditionsOf(await member.pod("a"))["Ready"]).toBe("False");
    expect(member.events).toEqual(["Pod/a Warning NodeNotReady: Node is not ready"]);
  });

  test("evicts pods after tolerationSeconds; they remain until its kubelet returns", async () => {
    const member = await start({ times: { startMs: 0, stopMs: 0, gracePeriodMs: 0 } });
    await member.create(
      makePod("brief", { ...pin("node-000"), tolerations: [tolerationFor(10)] }),
      makePod("patient", pin("node-000")),
      makePod("loyal", { ...pin("node-000"), tolerations: [{ operator: "Exists" }] }),
    );

    await annotate(member, "node-000", "lost");
    const leaving: string[][] = [];
    for (const ms of [9_000, 1_000, 290_000, 3_600_000]) {
      await member.pass(ms);
      leaving.push(
        (await member.client.list(Pod, { cluster: MEMBER })).items
          .filter(({ metadata }) => metadata.deletionTimestamp)
          .map(({ metadata }) => metadata.name),
      );
    }
    await annotate(member, "node-000", undefined);
    const left = (await member.client.list(Pod, { cluster: MEMBER })).items;

    expect(leaving).toEqual([[], ["brief"], ["brief", "patient"], ["brief", "patient"]]);
    expect(left.map((pod) => [pod.metadata.name, isReady(pod)])).toEqual([["loyal", true]]);
    const back = await member.node("node-000");
    expect([readyOf(back), taintsOf(back)]).toEqual(["True", []]);
  });

  test("a lost node that returns in time keeps its pods", async () => {
    const member = await start({ times: { startMs: 0, gracePeriodMs: 0 } });
    await member.create(makePod("a", pin("node-000")));
    await annotate(member, "node-000", "lost");
    await member.pass(100_000);

    await annotate(member, "node-000", undefined);
    await member.pass(3_600_000);

    expect(isReady(await member.pod("a"))).toBe(true);
  });

  test("starts no pods", async () => {
    const member = await start();
    await annotate(member, "node-000", "lost");

    await member.create(makePod("a", pin("node-000")));
    const before = (await member.pod("a")).status?.phase;
    await annotate(member, "node-000", undefined);

    expect([before, (await member.pod("a")).status?.phase]).toEqual(["Pending", "Running"]);
  });
});

describe("taints", () => {
  const taint = (member: TestMember, ...taints: Taint[]): Promise<void> =>
    member.change(Node, "node-000", (node) => ({ ...node, spec: { ...node.spec, taints } }));

  test("taints with effect NoExecute evict pods that do not tolerate them, and emit an event", async () => {
    const member = await start({ nodes: 1 });
    await member.create(makePod("a"), makePod("b", { tolerations: [{ key: "maintenance", operator: "Exists" }] }));

    await taint(member, { key: "maintenance", effect: "NoExecute" });

    expect((await member.client.list(Pod, { cluster: MEMBER })).items.map(({ metadata }) => metadata.name)).toEqual([
      "b",
    ]);
    expect(member.events).toContain("Pod/a Normal TaintManagerEviction: Marking for deletion Pod shop/a");
  });

  test("taints that are removed in time evict no pods", async () => {
    const member = await start({ nodes: 1 });
    await member.create(
      makePod("a", {
        tolerations: [{ key: "maintenance", operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 }],
      }),
    );

    await taint(member, { key: "maintenance", effect: "NoExecute" });
    await member.pass(59_000);
    await taint(member);
    await member.pass(3_600_000);

    expect(isReady(await member.pod("a"))).toBe(true);
  });
});

test("a cordon keeps new pods away and sets a taint until the node is uncordoned", async () => {
  const member = await start({ nodes: 1 });
  await member.change(Node, "node-000", (node) => ({ ...node, spec: { ...node.spec, unschedulable: true } }));
  await member.create(makePod("a"));

  const cordoned = await member.node("node-000");
  const waiting = await member.pod("a");
  await member.change(Node, "node-000", ({ spec, ...node }) => ({
    ...node,
    spec: { providerID: spec?.providerID ? spec.providerID : undefined, taints: spec?.taints ?? [] },
  }));
  await member.pass(1_000);

  expect(taintsOf(cordoned)).toEqual(["node.kubernetes.io/unschedulable:NoSchedule"]);
  expect(conditionsOf(waiting)["PodScheduled"]).toBe("False Unschedulable");
  expect([taintsOf(await member.node("node-000")), isReady(await member.pod("a"))]).toEqual([[], true]);
});

test("a user-created node gets a kubelet and keeps its capacity", async () => {
  const member = await start({ nodes: 0 });

  await member.create(makePod("a"), {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "mine" },
    status: { capacity: { cpu: "2", memory: "1Gi", pods: "5" } },
  } as Node);
  await member.pass(1_000);

  const node = await member.node("mine");
  expect([readyOf(node), node.status?.allocatable]).toEqual(["True", { cpu: "2", memory: "1Gi", pods: "5" }]);
  expect((await member.pod("a")).spec.nodeName).toBe("mine");
});

test("members with healthy nodes cause no writes", async () => {
  const member = await start();
  await member.create(makePod("a"));
  member.writes.reset();

  await member.pass(86_400_000);

  expect(member.writes.total()).toBe(0);
});
