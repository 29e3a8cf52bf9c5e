/** Advanced DaemonSets on a simulated member with a fake clock, as users see them. */
import { omitZero } from "@flotilla/base";
import { afterEach, describe, expect, test } from "vitest";
import { AdvancedDaemonSet } from "./daemonset-kind.ts";
import { Node, Pod } from "@flotilla/kubernetes";
import { kruiseKinds } from "../openkruise.ts";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember, KruiseMemberOptions } from "@flotilla/testing/member/kruise-member.ts";

type Spec = AdvancedDaemonSet["spec"];
type Rolling = NonNullable<NonNullable<Spec["updateStrategy"]>["rollingUpdate"]>;
type ReadonlyPod = DeepReadonly<Pod>;

let member: KruiseMember;
afterEach(() => member.stop());

const template = (image: string, labels: Record<string, string> = {}) => ({
  metadata: { labels: { app: "agent", ...labels } },
  spec: { containers: [{ name: "main", image }] },
});

function makeSet(rollingUpdate: Rolling = {}, spec: Partial<Spec> = {}): AdvancedDaemonSet {
  return {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "DaemonSet",
    metadata: { name: "agent", namespace: NAMESPACE },
    spec: {
      selector: { matchLabels: { app: "agent" } },
      template: template("agent:1"),
      updateStrategy: { type: "RollingUpdate", rollingUpdate },
      ...spec,
    },
  };
}

async function start(set: AdvancedDaemonSet, options: KruiseMemberOptions = {}): Promise<void> {
  member = await startKruiseMember({ customs: kruiseKinds, nodes: 4, ...options });
  await member.client.create(AdvancedDaemonSet, MEMBER, set);
  await member.pass(60_000);
}
const edit = (change: (spec: DeepReadonly<Spec>) => DeepReadonly<Spec>): Promise<unknown> =>
  member.change(AdvancedDaemonSet, "agent", (set) => ({ ...set, spec: change(set.spec) }));
const setImage = (image: string): Promise<unknown> => edit((spec) => ({ ...spec, template: template(image) }));
const status = async (): Promise<DeepReadonly<AdvancedDaemonSet>["status"]> =>
  (await member.get(AdvancedDaemonSet, "agent")).status;

/** The pods in the order of their nodes. */
const pods = (): ReadonlyPod[] =>
  member.pods().toSorted((a, b) => ((a.spec.nodeName ?? "") < (b.spec.nodeName ?? "") ? -1 : 1));
const images = (): (string | undefined)[] => pods().map(({ spec }) => spec.containers[0]?.image);
const nodes = async (): Promise<string[]> => (await member.list(Node)).map(({ metadata }) => metadata.name).toSorted();
const labelNode = async (name: string, labels: Record<string, string>): Promise<unknown> =>
  member.change(Node, name, (node) => ({
    ...node,
    metadata: { ...node.metadata, labels: { ...node.metadata.labels, ...labels } },
  }));
const withLabel =
  (key: string, value: string | undefined) =>
  (pod: ReadonlyPod): ReadonlyPod => {
    const { [key]: _old, ...labels } = pod.metadata.labels ?? {};
    return {
      ...pod,
      metadata: { ...pod.metadata, labels: value === undefined ? labels : { ...labels, [key]: value } },
    };
  };

describe("A new set", () => {
  test("has a ready pod on every node, with three writes each", async () => {
    await start(makeSet());

    expect(pods().map(({ spec }) => spec.nodeName)).toEqual(await nodes());
    expect(member.writes.total({ resource: "pods" })).toBe(12);
    expect(await status()).toMatchObject({
      observedGeneration: 1,
      desiredNumberScheduled: 4,
      currentNumberScheduled: 4,
      numberReady: 4,
      updatedNumberScheduled: 4,
      numberAvailable: 4,
      numberMisscheduled: 0,
    });
    expect((await status())?.updateRevision).toBe(pods()[0]?.metadata.labels?.["controller-revision-hash"]);
  });

  test("skips tainted nodes, and adds their pods when the taint is removed", async () => {
    await start(makeSet());
    const [first = ""] = await nodes();
    const taint = (taints: NonNullable<Node["spec"]>["taints"]) =>
      member.change(Node, first, (node) => ({ ...node, spec: { ...node.spec, ...omitZero({ taints }) } }));

    await taint([{ key: "dedicated", effect: "NoExecute", value: "x" }]);
    await member.pass(60_000);
    const without = pods().map(({ spec }) => spec.nodeName);
    await taint([]);
    await member.pass(60_000);

    expect(without).toEqual((await nodes()).slice(1));
    expect(pods()).toHaveLength(4);
  });

  test("leaves out the nodes of the partition with partitionedScaling", async () => {
    await start(makeSet({ partition: "50%" }, { scaleStrategy: { partitionedScaling: true } }));
    const early = pods().length;

    await edit((spec) => ({
      ...spec,
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { ...spec.updateStrategy?.rollingUpdate, partition: 0 } },
    }));
    await member.pass(60_000);

    expect(early).toBe(2);
    expect(pods()).toHaveLength(4);
  });

  test("writes nothing once it has converged", async () => {
    await start(
      makeSet(
        { rollingUpdateType: "InPlaceIfPossible", maxUnavailable: "50%", partition: "10%" },
        { burstReplicas: "50%" },
      ),
    );
    member.writes.reset();

    await member.pass(3_600_000);

    expect(pods()).toHaveLength(4);
    expect(member.writes.counts()).toEqual([]);
  });
});

describe("An update", () => {
  test("An update of the image happens in place: same pods, one restart", async () => {
    await start(makeSet({ rollingUpdateType: "InPlaceIfPossible", maxUnavailable: 1 }));
    const before = pods().map(({ metadata }) => metadata.uid);

    await setImage("agent:2");
    await member.pass(120_000);

    expect(images()).toEqual(Array<string>(4).fill("agent:2"));
    expect(pods().map(({ metadata }) => metadata.uid)).toEqual(before);
    expect(pods().map((pod) => pod.status?.containerStatuses?.[0]?.restartCount)).toEqual([1, 1, 1, 1]);
    expect(await status()).toMatchObject({ updatedNumberScheduled: 4, numberAvailable: 4 });
    expect(member.events.filter((event) => event.includes("SuccessfulUpdatePodInPlace"))).toHaveLength(4);
  });

  test("An update of any other field replaces pods", async () => {
    await start(makeSet({ rollingUpdateType: "InPlaceIfPossible", maxUnavailable: 2 }));
    const before = pods().map(({ metadata }) => metadata.uid);

    await edit((spec) => ({
      ...spec,
      template: {
        ...template("agent:1"),
        spec: { containers: [{ name: "main", image: "agent:1", env: [{ name: "A", value: "b" }] }] },
      },
    }));
    await member.pass(120_000);

    expect(pods().map(({ metadata }) => before.includes(metadata.uid))).toEqual([false, false, false, false]);
    expect(await status()).toMatchObject({ updatedNumberScheduled: 4, numberAvailable: 4 });
  });

  test("An update with a surge starts the new pod before the old one is deleted", async () => {
    await start(makeSet({ maxSurge: 1, maxUnavailable: 0 }), { times: { startMs: 5_000 } });
    let fewest = 4;
    member.informers.of(Pod).subscribe(() => {
      const ready = new Set(
        member
          .pods()
          .filter((pod) =>
            pod.status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True"),
          )
          .map(({ spec }) => spec.nodeName),
      );
      fewest = Math.min(fewest, ready.size);
    });

    await setImage("agent:2");
    await member.pass(240_000);

    expect(images()).toEqual(Array<string>(4).fill("agent:2"));
    expect(fewest).toBe(4);
  });

  test("keeps the old pods of the partition, rounded down, on the first nodes", async () => {
    await start(makeSet({ partition: "60%", maxUnavailable: 4 }));

    await setImage("agent:2");
    await member.pass(120_000);

    expect(images()).toEqual(["agent:1", "agent:1", "agent:2", "agent:2"]);
  });

  test("is limited to the nodes of the selector", async () => {
    await start(makeSet({ maxUnavailable: 4, selector: { matchLabels: { canary: "yes" } } }));
    const [, second = ""] = await nodes();
    await labelNode(second, { canary: "yes" });

    await setImage("agent:2");
    await member.pass(120_000);

    expect(images()).toEqual(["agent:1", "agent:2", "agent:1", "agent:1"]);
  });

  test("does nothing while it is paused", async () => {
    await start(makeSet({ paused: true }));

    await setImage("agent:2");
    await member.pass(60_000);

    expect(images()).toEqual(Array<string>(4).fill("agent:1"));
  });

  test("An update with OnDelete waits for users to delete pods", async () => {
    await start({ ...makeSet(), spec: { ...makeSet().spec, updateStrategy: { type: "OnDelete" } } });

    await setImage("agent:2");
    await member.pass(60_000);
    const before = images();
    await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: pods()[0]?.metadata.name ?? "" });
    await member.pass(60_000);

    expect(before).toEqual(Array<string>(4).fill("agent:1"));
    expect(images()).toEqual(["agent:2", "agent:1", "agent:1", "agent:1"]);
  });
});

describe("A preDelete hook", () => {
  test("keeps old pods until it is removed", async () => {
    await start(
      makeSet(
        { maxUnavailable: 1 },
        {
          lifecycle: { preDelete: { labelsHandler: { hold: "yes" } } },
          template: template("agent:1", { hold: "yes" }),
        },
      ),
    );

    await edit((spec) => ({ ...spec, template: template("agent:2", { hold: "yes" }) }));
    await member.pass(60_000);
    const held = pods().filter(
      ({ metadata }) => metadata.labels?.["lifecycle.apps.kruise.io/state"] === "PreparingDelete",
    );
    for (const { metadata } of held) await member.editPod(metadata.name, withLabel("hold", undefined));
    await member.pass(60_000);

    expect(held).toHaveLength(1);
    expect(images().filter((image) => image === "agent:2")).toHaveLength(1);
  });
});

describe("A failed pod", () => {
  test("emits an event and is replaced", async () => {
    await start(makeSet());
    const [victim] = pods();

    if (victim) await member.finish(victim, 1);
    await member.pass(60_000);

    expect(pods().map(({ metadata }) => metadata.uid)).not.toContain(victim?.metadata.uid);
    expect(pods()).toHaveLength(4);
    expect(member.events.some((event) => event.startsWith("DaemonSet/agent Warning FailedDaemonPod"))).toBe(true);
  });
});
