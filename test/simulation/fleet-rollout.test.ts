/**
 * A CloneSet rollout over the fleet, with simulated pods: the partition counts the pods of all members, exactly once
 * they have settled and never more in between, whatever happens to members and replicas meanwhile.
 */
import { afterEach, describe, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { Cluster, OverridePolicy, PropagationPolicy, ResourceBinding, Work } from "@flotilla/karmada";
import { Namespace, Pod } from "@flotilla/kubernetes";
import type { Json } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";

const MEMBERS = ["member1", "member2", "member3", "member4"];
const EQUAL = { member1: 3, member2: 3, member3: 4 };
const web = { cluster: "hub", namespace: "shop", name: "web" };
const STEP_MS = 250;
const STEPS = 120;
/** More event loop turns than anything takes that does not wait for the clock. */
const TURNS = 300;
/** The client's request timeout. */
const REQUEST_TIMEOUT_MS = 20_000;

let fleet: TestFleet;
/**
 * Members that receive nothing, members that receive everything but whose responses are lost, members with an unknown
 * outcome, and members that hang.
 */
let away: Set<string>;
let mute: Set<string>;
let lost: Set<string>;
let hung: Set<string>;
afterEach(() => fleet.stop());

const policy = (weights: Record<string, number>): PropagationPolicy =>
  makePolicy("shop/all").selects("apps.kruise.io/v1beta1", "CloneSet").weights(weights).build();

interface Start {
  weights?: Record<string, number>;
  /** The pod update policy. */
  podUpdatePolicy?: "ReCreate" | "InPlaceIfPossible";
  annotations?: Record<string, string>;
}

async function start({
  weights = EQUAL,
  podUpdatePolicy = "InPlaceIfPossible",
  annotations = {},
}: Start = {}): Promise<void> {
  away = new Set();
  mute = new Set();
  lost = new Set();
  hung = new Set();
  const wrap = (transport: Transport, part: string): Transport => {
    if (part !== "execute") return transport;
    return {
      ...transport,
      async send(request, signal) {
        const { cluster } = request.path;
        if (hung.has(cluster))
          await new Promise(
            (_resolve, reject) =>
              void fleet.clock.after(REQUEST_TIMEOUT_MS, () =>
                reject(new UnreachableError(`${cluster} hangs`, { mayHaveArrived: true })),
              ),
          );
        if (lost.has(cluster)) throw new UnreachableError(`${cluster} may have got it`, { mayHaveArrived: true });
        if (away.has(cluster)) throw new UnreachableError(`${cluster} is away`);
        const answer = await transport.send(request, signal);
        if (mute.has(cluster)) throw new UnreachableError(`${cluster} does not answer`, { mayHaveArrived: true });
        return answer;
      },
    };
  };
  fleet = await startTestFleet({ members: MEMBERS, nodes: 3, wrap });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", policy(weights));
  const cloneSet = makeCloneSet("shop/web")
    .replicas(10)
    .with(({ metadata, spec }) => {
      metadata.annotations = annotations;
      spec.updateStrategy = { type: "RollingUpdate", rollingUpdate: { podUpdatePolicy, maxUnavailable: "50%" } };
    })
    .build();
  await fleet.client.create(CloneSet, "hub", cloneSet);
  await fleet.run(30_000);
}

const release = (partition: number | string, image = "web:2"): Promise<unknown> =>
  fleet.client.patch(
    CloneSet,
    web,
    {
      spec: {
        template: { spec: { containers: [{ name: "web", image }] } },
        updateStrategy: { rollingUpdate: { partition } },
      },
    },
    { type: "merge" },
  );
async function override(name: string, clusterNames: string[], overriders: object): Promise<void> {
  const spec = {
    resourceSelectors: [{ apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet" }],
    overrideRules: [{ targetCluster: { clusterNames }, overriders }],
  };
  await fleet.client.create(OverridePolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { namespace: "shop", name },
    spec,
  });
}
const weigh = (weights: Record<string, number>): Promise<unknown> =>
  fleet.client.patch(PropagationPolicy, { ...web, name: "all" }, { spec: policy(weights).spec } as unknown as Json, {
    type: "merge",
  });

/** Per member: pods that are not being deleted, and how many of them run the new revision. */
async function pods(image = "web:2"): Promise<{ all: number[]; updated: number[]; sum: number }> {
  const lists = await Promise.all(
    MEMBERS.map(async (cluster) =>
      (await fleet.client.list(Pod, { cluster, namespace: "shop" })).items.filter(
        ({ metadata }) => !metadata.deletionTimestamp,
      ),
    ),
  );
  const updated = lists.map((items) => items.filter(({ spec }) => spec?.containers[0]?.image === image).length);
  return { all: lists.map(({ length }) => length), updated, sum: updated.reduce((sum, count) => sum + count, 0) };
}

const condition = async (type: string): Promise<unknown> =>
  (await fleet.client.get(ResourceBinding, { ...web, name: "web-cloneset" })).status?.conditions?.find(
    (each) => each.type === type,
  );
const dispatched = (): Promise<unknown> => condition("Dispatched");

/** Advances time while a request hangs, which keeps the fleet from settling. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    fleet.clock.advance(STEP_MS);
    for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => void setImmediate(resolve));
  }
}

/** Settles the fleet and checks in between. Returns the largest number of updated pods at any time. */
async function settle(image = "web:2"): Promise<number> {
  let most = 0;
  for (let step = 0; step < STEPS; step++) {
    await fleet.run(STEP_MS);
    most = Math.max(most, (await pods(image)).sum);
  }
  return most;
}

describe.each(["InPlaceIfPossible", "ReCreate"] as const)("a rollout over three members, %s,", (podUpdatePolicy) => {
  test.each([
    { weights: EQUAL, steps: [10, 7, 5, 2, 0] },
    { weights: { member1: 1, member2: 8, member3: 1 }, steps: ["100%", "90%", "75%", "50%", "1%", "0%"] },
  ])("updates exactly the pods that the partition allows at each of $steps", async ({ weights, steps }) => {
    await start({ weights, podUpdatePolicy });

    for (const partition of steps) {
      await release(partition);
      const most = await settle();

      const kept =
        typeof partition === "number"
          ? partition
          : Math.min(Math.ceil(Number.parseInt(partition) / 10), partition === "100%" ? 10 : 9);
      expect((await pods()).sum, `partition ${partition}`).toBe(10 - kept);
      expect(most).toBe(10 - kept);
      expect((await fleet.client.get(CloneSet, web)).status).toMatchObject({
        replicas: 10,
        updatedReplicas: 10 - kept,
        updatedReadyReplicas: 10 - kept,
        expectedUpdatedReplicas: 10 - kept,
      });
    }
  });

  test("rolls back when the partition is raised, on members that do not roll back pods by themselves, and forward again", async () => {
    await start({ podUpdatePolicy });
    await release(2);
    await settle();

    for (const partition of [5, 9, 10, 4, 0, 6, 10]) {
      const before = (await pods()).sum;
      await release(partition);
      const most = await settle();

      expect((await pods()).sum, `partition ${partition}`).toBe(10 - partition);
      expect(most).toBeLessThanOrEqual(Math.max(before, 10 - partition));
      expect((await fleet.client.get(CloneSet, web)).status).toMatchObject({
        replicas: 10,
        updatedReplicas: 10 - partition,
        readyReplicas: 10,
      });
    }
    expect((await pods("web:1")).all).toEqual([3, 3, 4, 0]);
    fleet.resetWrites();
    await fleet.run(600_000);
    expect(fleet.writes()).toEqual([]);
  });
});

describe("a rollout in progress", () => {
  test("is counted in reverse when the template itself is reverted", async () => {
    await start();
    await release(5);
    await settle();

    await release(3, "web:1");
    await settle("web:1");
    expect((await pods("web:1")).sum).toBe(7);
    expect((await fleet.client.get(CloneSet, web)).status).toMatchObject({ replicas: 10, updatedReplicas: 7 });

    await release(0, "web:1");
    await settle("web:1");
    expect((await pods("web:1")).sum).toBe(10);
  });

  test.each([
    { how: "the image alone", partition: 7 },
    { how: "the image, and the partition raised", partition: 9 },
  ])("reaches no more pods when it is reverted by $how, and can continue afterwards", async ({ partition }) => {
    await start();
    await release(7);
    await settle();

    await release(partition, "web:1");
    expect(await settle()).toBe(3);
    expect((await pods("web:1")).sum).toBe(7);

    await release(1, "web:1");
    await settle();
    expect((await pods("web:1")).sum).toBe(9);

    await release(4);
    expect(await settle()).toBe(6);
    await release(8);
    await settle();
    expect((await pods()).sum).toBe(2);
  });

  test("reaches no more pods when another was in progress before it, and both are reverted", async () => {
    await start();
    await release(7);
    await settle();
    await release(7, "web:3");
    await settle("web:3");

    await release(7, "web:1");
    await settle("web:1");

    expect((await pods("web:1")).sum).toBe(7);
    expect((await pods("web:3")).sum).toBe(3);
  });

  test("rolls back to the overridden template from before, on old and new members", async () => {
    await start();
    await fleet.client.patch(
      CloneSet,
      web,
      { spec: { template: { spec: { tolerations: [{ key: "a", operator: "Exists" }] } } } },
      { type: "merge" },
    );
    // If applied twice, it would be present twice.
    const overriders = {
      plaintext: [
        { path: "/spec/template/spec/tolerations/-", operator: "add", value: { key: "b", operator: "Exists" } },
      ],
    };
    await override("extra", ["member2", "member4"], overriders);
    await settle();
    await release(2);
    await settle();

    await release(9);
    await settle();
    await weigh({ member1: 3, member2: 3, member4: 4 });
    await settle();

    const tolerated = await Promise.all(
      MEMBERS.map(async (cluster) => {
        const { items } = await fleet.client.list(Pod, { cluster, namespace: "shop" });
        return [
          ...new Set(
            items.map(({ spec }) =>
              (spec?.tolerations ?? []).flatMap(({ key = "" }) => (key.includes("/") ? [] : [key])).join(),
            ),
          ),
        ];
      }),
    );
    expect((await pods()).sum).toBe(1);
    expect((await pods()).all).toEqual([3, 3, 0, 4]);
    expect(tolerated).toEqual([["a"], ["a,b"], [], ["a,b"]]);
  });

  test("leaves a member to the override that sets its partition", async () => {
    await start();
    const overriders = {
      plaintext: [{ path: "/spec/updateStrategy/rollingUpdate/partition", operator: "replace", value: 0 }],
    };
    await release(10);
    await settle();
    await override("first", ["member1"], overriders);
    await settle();

    expect((await pods()).updated).toEqual([3, 0, 0, 0]);
    await release(9);
    await settle();
    expect((await pods()).updated).toEqual([3, 0, 0, 0]);
    await release(5);
    await settle();
    expect((await pods()).sum).toBe(5);
  });
});

describe("while a member is unreachable", () => {
  test("the others compensate for it, and nothing moves when it is back", async () => {
    await start();
    await release(7);
    await settle();
    const [, , had] = (await pods()).updated;

    away.add("member3");
    await release(4);
    expect(await settle()).toBe(6);
    expect((await pods()).updated[2]).toBe(had);
    expect((await pods()).sum).toBe(6);

    away.delete("member3");
    await fleet.run(60_000);
    expect(await settle()).toBe(6);
    expect((await pods()).sum).toBe(6);
  });

  test("updates that the others cannot compensate for wait, and the binding reports it", async () => {
    await start();
    await release(10);
    await settle();

    away.add("member3");
    await release(1);
    await settle();

    expect((await pods()).updated).toEqual([3, 3, 0, 0]);
    expect(
      (await fleet.client.get(ResourceBinding, { ...web, name: "web-cloneset" })).status?.conditions,
    ).toContainEqual(
      expect.objectContaining({
        type: "Dispatched",
        status: "False",
        reason: "RolloutHeld",
        message: "3 of 9 pods of the rollout wait for member3, which currently gets no copies",
      }),
    );

    away.delete("member3");
    await fleet.run(60_000);
    await settle();
    expect((await pods()).updated).toEqual([3, 3, 3, 0]);
    expect(
      (await fleet.client.get(ResourceBinding, { ...web, name: "web-cloneset" })).status?.conditions,
    ).toContainEqual(expect.objectContaining({ type: "Dispatched", status: "True" }));
  });

  test("the others roll out a revision that it has not received, and it is held when it is back", async () => {
    await start();

    away.add("member1");
    await release(5);
    expect(await settle()).toBe(5);
    expect((await pods()).updated[0]).toBe(0);

    away.delete("member1");
    await fleet.run(60_000);
    expect(await settle()).toBe(5);
    expect((await pods()).sum).toBe(5);
  });

  test("writes whose responses were lost count, and stay when it is back", async () => {
    await start();
    await release(7);
    await settle();

    mute.add("member3");
    await release(4);
    await fleet.run(5_000);
    mute.delete("member3");
    away.add("member3");
    expect(await settle()).toBe(6);
    expect((await pods()).sum).toBe(6);

    away.delete("member3");
    await fleet.run(60_000);
    expect(await settle()).toBe(6);
    expect((await pods()).sum).toBe(6);
  });

  test("a suspended member counts with its current pods, and the others compensate for it", async () => {
    await start();
    await release(7);
    await settle();

    await fleet.client.patch(
      PropagationPolicy,
      { ...web, name: "all" },
      { spec: { suspension: { dispatchingOnClusters: { clusterNames: ["member3"] } } } },
      { type: "merge" },
    );
    await settle();
    await release(4);
    expect(await settle()).toBe(6);
    expect((await pods()).sum).toBe(6);

    await fleet.client.patch(
      PropagationPolicy,
      { ...web, name: "all" },
      { spec: { suspension: null } },
      { type: "merge" },
    );
    expect(await settle()).toBe(6);
    expect((await pods()).sum).toBe(6);
  });

  test("its pods from before the partition was raised do not hold back the others", async () => {
    await start({ weights: { member1: 4, member2: 3, member3: 3 } });
    await release(4);
    await settle();
    await release(8);
    await settle();

    away.add("member3");
    await release(5);

    expect(await settle()).toBe(5);
    expect((await pods()).sum).toBe(5);
    expect(await dispatched()).not.toMatchObject({ status: "False" });
  });

  test("a request without a response keeps the others from continuing, and the binding reports it", async () => {
    await start({ weights: { member1: 4, member2: 3, member3: 3 } });
    await release(8);
    await settle();

    lost.add("member3");
    await release(4);

    expect(await settle()).toBe(4);
    expect(await dispatched()).toMatchObject({
      status: "False",
      reason: "RolloutHeld",
      message: "2 of 6 pods of the rollout wait for member3, which currently gets no copies",
    });

    lost.delete("member3");
    await fleet.run(60_000);
    expect(await settle()).toBe(6);
    expect((await pods()).sum).toBe(6);
    expect(await dispatched()).toMatchObject({ status: "True" });
  });

  test("a member that hangs with a request is reported after a moment, long before the request times out", async () => {
    await start();
    await release(8);
    await settle();

    hung.add("member3");
    await release(1);
    await pass(8_000);

    expect(await dispatched()).toMatchObject({ status: "False", reason: "RolloutHeld" });
    expect(await condition("FullyApplied")).toMatchObject({ status: "False" });

    hung.delete("member3");
    away.add("member3");
    await pass(REQUEST_TIMEOUT_MS);
    const { items } = await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member3" });
    expect(items.map(({ status }) => status?.conditions?.[0]?.reason)).toContain("NoAnswer");

    away.delete("member3");
    await fleet.run(60_000);
    await settle();
    expect((await pods()).sum).toBe(9);
    expect(await dispatched()).toMatchObject({ status: "True" });
    expect(await condition("FullyApplied")).toMatchObject({ status: "True" });
  });

  test("pods are rolled back on other members first", async () => {
    await start();
    await release(4);
    await settle();

    away.add("member3");
    await release(7);
    await settle();
    expect((await pods()).sum).toBe(3);

    away.delete("member3");
    await fleet.run(60_000);
    await settle();
    expect((await pods()).sum).toBe(3);
  });
});

describe("while replicas move", () => {
  test.each([
    { what: "weights change", to: { member1: 6, member2: 2, member3: 2 } },
    { what: "one member takes nearly all", to: { member1: 1, member2: 8, member3: 1 } },
    { what: "a member is added", to: { member1: 2, member2: 2, member3: 3, member4: 3 } },
    { what: "a member is exchanged", to: { member1: 3, member2: 3, member4: 4 } },
    { what: "a member leaves", to: { member1: 5, member2: 5 } },
    { what: "all go to one", to: { member2: 1 } },
    { what: "all go to a new one", to: { member4: 1 } },
  ] as { what: string; to: Record<string, number> }[])(
    "because $what, the number of updated pods is kept",
    async ({ to }) => {
      for (const annotations of [{}, { "flotilla.dev/rollout-order": "ordered" }] as Record<string, string>[]) {
        await start({ annotations });
        await release(5);
        await settle();

        await weigh(to);
        const most = await settle();

        const { all, sum } = await pods();
        expect(all.reduce((total, count) => total + count, 0)).toBe(10);
        expect(sum).toBe(5);
        expect(most).toBe(5);
        await release(2);
        expect(await settle()).toBe(8);
        expect((await pods()).sum).toBe(8);
        await release(0);
        await settle();
        expect((await pods()).sum).toBe(10);
        await fleet.stop();
      }
    },
  );

  test.each([{ isAway: false }, { isAway: true }])(
    "because a member fails over, unreachable: $isAway, the number of updated pods is kept",
    async ({ isAway }) => {
      await start();
      await fleet.client.patch(
        PropagationPolicy,
        { ...web, name: "all" },
        {
          spec: {
            placement: { clusterAffinity: { clusterNames: MEMBERS } },
            failover: { cluster: { purgeMode: "Gracefully" } },
          },
        },
        { type: "merge" },
      );
      await release(5);
      await settle();

      if (isAway) away.add("member3");
      await fleet.client.patch(
        Cluster,
        { cluster: "hub", name: "member3" },
        { spec: { taints: [{ key: "maintenance", effect: "NoExecute" }] } },
        { type: "merge" },
      );
      expect(await settle()).toBe(5);
      expect((await pods()).sum).toBe(5);

      away.clear();
      await fleet.run(60_000);
      expect(await settle()).toBe(5);
      expect(await pods()).toMatchObject({ all: [5, 5, 0, 0], sum: 5 });
    },
  );

  test.each([
    { replicas: 16, partition: 5, want: 11 },
    { replicas: 6, partition: 5, want: 1 },
    { replicas: 20, partition: "50%", want: 10 },
    { replicas: 4, partition: "50%", want: 2 },
  ])(
    "because it is scaled to $replicas with partition $partition, $want pods are updated",
    async ({ replicas, partition, want }) => {
      await start();
      await release(partition);
      await settle();

      await fleet.client.patch(CloneSet, web, { spec: { replicas } }, { type: "merge" });
      const most = await settle();

      expect((await pods()).sum).toBe(want);
      expect(most).toBeLessThanOrEqual(Math.max(5, want));
    },
  );
});
