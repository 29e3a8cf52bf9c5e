/** DaemonSets on a simulated member: a pod on every node that should have one. */
import { describe, expect, test } from "vitest";
import { ControllerRevision } from "../controllerrevision/controllerrevision-kind.ts";
import { DaemonSet } from "./daemonset-kind.ts";
import { Node } from "../node/node-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { compareText } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER, NAMESPACE, startTestMember } from "@flotilla/testing/member/member.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import type { TestMember } from "@flotilla/testing/member/member.ts";
import { indexByController } from "../owned-kinds.ts";
import { createDaemonSetController } from "./daemonset-controller.ts";

async function startMember(nodes = 3): Promise<TestMember> {
  const member = await startTestMember({
    nodes,
    controllers(deps) {
      indexByController(deps.informers);
      return [createDaemonSetController(deps)];
    },
  });
  return endsWithTest(member);
}

const template = (image: string, spec: object = {}) => ({
  metadata: { labels: { app: "log" } },
  spec: { containers: [{ name: "main", image }], ...spec },
});

function makeSet(spec: Partial<DaemonSet["spec"]> = {}): DaemonSet {
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "log", namespace: NAMESPACE },
    spec: { selector: { matchLabels: { app: "log" } }, template: template("log:1"), ...spec },
  };
}

const isReady = ({ metadata, status }: DeepReadonly<Pod>): boolean =>
  !metadata.deletionTimestamp &&
  (status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false);
const nodesOf = (member: TestMember): string[] =>
  member
    .pods()
    .map(({ spec }) => spec.nodeName ?? "")
    .toSorted(compareText);
const images = (member: TestMember): string[] => member.pods().map(({ spec }) => spec.containers[0]?.image ?? "");
const statusOf = async (member: TestMember) => (await member.get(DaemonSet, "log")).status;
const setImage = (member: TestMember, image: string): Promise<unknown> =>
  member.change(DaemonSet, "log", (set) => ({ ...set, spec: { ...set.spec, template: template(image) } }));
const taint = (
  member: TestMember,
  node: string,
  taints: { key: string; effect: "NoSchedule" | "NoExecute" }[],
): Promise<unknown> => member.change(Node, node, (object) => ({ ...object, spec: { ...object.spec, taints } }));

describe("A DaemonSet", () => {
  test("runs a pod on every node, bound to it by name", async () => {
    const member = await startMember();

    await member.client.create(DaemonSet, MEMBER, makeSet());
    await member.pass(10_000);

    expect(nodesOf(member)).toEqual(["node-000", "node-001", "node-002"]);
    const [pod] = member.pods();
    const terms = pod?.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
    expect(terms).toEqual([{ matchFields: [{ key: "metadata.name", operator: "In", values: [pod?.spec.nodeName] }] }]);
    expect(pod?.spec.tolerations?.map(({ key, effect }) => `${key}:${effect}`)).toEqual([
      "node.kubernetes.io/not-ready:NoExecute",
      "node.kubernetes.io/unreachable:NoExecute",
      "node.kubernetes.io/disk-pressure:NoSchedule",
      "node.kubernetes.io/memory-pressure:NoSchedule",
      "node.kubernetes.io/pid-pressure:NoSchedule",
      "node.kubernetes.io/unschedulable:NoSchedule",
    ]);
    expect(pod?.metadata.labels?.["pod-template-generation"]).toBe("1");
    expect(await statusOf(member)).toEqual({
      currentNumberScheduled: 3,
      desiredNumberScheduled: 3,
      numberMisscheduled: 0,
      numberReady: 3,
      numberAvailable: 3,
      updatedNumberScheduled: 3,
      observedGeneration: 1,
    });
  });

  test("follows nodes that are added and changed", async () => {
    const member = await startMember();
    await member.client.create(
      DaemonSet,
      MEMBER,
      makeSet({ template: template("log:1", { nodeSelector: { disk: "ssd" } }) }),
    );
    await member.pass(10_000);
    const before = nodesOf(member);

    await member.change(Node, "node-001", (node) => ({
      ...node,
      metadata: { ...node.metadata, labels: { ...node.metadata.labels, disk: "ssd" } },
    }));
    await member.pass(10_000);
    const labelled = nodesOf(member);
    await member.change(Node, "node-001", (node) => ({ ...node, metadata: { ...node.metadata, labels: {} } }));
    await member.pass(10_000);

    expect([before, labelled, nodesOf(member)]).toEqual([[], ["node-001"], []]);
  });

  test("keeps its pod on a node with a NoSchedule taint, and removes it from one with a NoExecute taint", async () => {
    const member = await startMember();
    await member.client.create(DaemonSet, MEMBER, makeSet());
    await member.pass(10_000);

    await taint(member, "node-000", [{ key: "full", effect: "NoSchedule" }]);
    await taint(member, "node-001", [{ key: "broken", effect: "NoExecute" }]);
    await member.pass(10_000);

    expect(nodesOf(member)).toEqual(["node-000", "node-002"]);
    expect(await statusOf(member)).toMatchObject({
      desiredNumberScheduled: 1,
      currentNumberScheduled: 1,
      numberMisscheduled: 1,
    });
  });

  test("updates within maxUnavailable", async () => {
    const member = await startMember(4);
    await member.client.create(
      DaemonSet,
      MEMBER,
      makeSet({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } } }),
    );
    await member.pass(10_000);
    let fewest = 4;
    member.informers.of(Pod).subscribe(() => (fewest = Math.min(fewest, member.pods().filter(isReady).length)));
    fewest = 4;

    await setImage(member, "log:2");
    await member.pass(60_000);

    expect(images(member)).toEqual(["log:2", "log:2", "log:2", "log:2"]);
    expect(fewest).toBe(3);
    expect(await member.list(ControllerRevision)).toHaveLength(2);
  });

  test("writes revisions with sorted keys, as upstream's clients compare them", async () => {
    const member = await startMember(1);
    await member.client.create(DaemonSet, MEMBER, makeSet());
    await member.pass(10_000);

    const [revision] = await member.list(ControllerRevision);

    expect(JSON.stringify(revision?.data)).toMatch(
      /^{"spec":{"template":{"\$patch":"replace","metadata":{"labels":{"app":"log"}},"spec":{"containers":\[{"image":"log:1","imagePullPolicy":/,
    );
  });

  test("A DaemonSet with maxSurge starts the new pod before the old one is deleted", async () => {
    const member = await startMember();
    await member.client.create(
      DaemonSet,
      MEMBER,
      makeSet({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }),
    );
    await member.pass(10_000);
    let [fewest, most] = [3, 3];
    member.informers.of(Pod).subscribe(() => {
      fewest = Math.min(fewest, member.pods().filter(isReady).length);
      most = Math.max(most, member.pods().filter(({ metadata }) => !metadata.deletionTimestamp).length);
    });
    [fewest, most] = [3, 3];

    await setImage(member, "log:2");
    await member.pass(60_000);

    expect(images(member)).toEqual(["log:2", "log:2", "log:2"]);
    expect([fewest, most]).toEqual([3, 4]);
  });

  test("A DaemonSet with OnDelete updates a pod when a user deletes it", async () => {
    const member = await startMember();
    await member.client.create(DaemonSet, MEMBER, makeSet({ updateStrategy: { type: "OnDelete" } }));
    await member.pass(10_000);

    await setImage(member, "log:2");
    await member.pass(10_000);
    const before = images(member);
    const name = member.pods()[0]?.metadata.name ?? "";
    await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name });
    await member.pass(10_000);

    expect(before).toEqual(["log:1", "log:1", "log:1"]);
    expect(images(member).toSorted(compareText)).toEqual(["log:1", "log:1", "log:2"]);
    expect(await statusOf(member)).toMatchObject({ updatedNumberScheduled: 1 });
  });

  test("replaces failed pods with backoff", async () => {
    const member = await startMember(1);
    await member.client.create(DaemonSet, MEMBER, makeSet());
    await member.pass(10_000);
    const made: number[] = [];
    member.informers.of(Pod).subscribe(({ old, deleted }) => !old && !deleted && made.push(member.clock.now()));
    const start = member.clock.now();
    made.length = 0;

    for (let round = 0; round < 40; round++) {
      const [pod] = member.pods().filter(isReady);
      if (pod) await member.finish(pod, 1);
      await member.pass(250);
    }

    expect(made.map((ms) => Math.round((ms - start) / 1000))).toEqual([0, 1, 3, 7]);
    expect(member.events.filter((event) => event.includes("FailedDaemonPod"))).toHaveLength(4);
  });

  test("writes nothing once it has converged", async () => {
    const member = await startMember();
    await member.client.create(DaemonSet, MEMBER, makeSet());
    await member.pass(30_000);
    member.writes.reset();

    await member.pass(300_000);

    expect(member.writes.counts()).toEqual([]);
  });
});
