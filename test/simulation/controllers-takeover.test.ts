/** Several processes of `flotilla controllers`: take-over, deposed leaders and shards. */
import { afterEach, expect, test } from "vitest";
import { HUB } from "@flotilla/apimachinery";
import { CONTROLLER_GROUPS, shardOf } from "@flotilla/flotilla";
import { PropagationPolicy, Work } from "@flotilla/karmada";
import { ConfigMap, Namespace, Pod } from "@flotilla/kubernetes";
import { CloneSet } from "@flotilla/openkruise";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import { startControllersWorld } from "./controllers-world.ts";
import type { ControllersProcess, ControllersWorld } from "./controllers-world.ts";

const MEMBERS = ["member1", "member2", "member3"];
const REPLICAS = 9;
const MAX_UNAVAILABLE = 3;
const web = { cluster: HUB, namespace: "shop", name: "web" };

let world: ControllersWorld;
afterEach(() => world.stop());

async function deploy(): Promise<void> {
  const { client } = world;
  await client.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(
    PropagationPolicy,
    HUB,
    makePolicy("shop/all")
      .selects("apps.kruise.io/v1beta1", "CloneSet")
      .weights({ member1: 1, member2: 1, member3: 1 })
      .build(),
  );
  const cloneSet = makeCloneSet("shop/web")
    .replicas(REPLICAS)
    .with(({ spec }) => {
      spec.updateStrategy = {
        type: "RollingUpdate",
        rollingUpdate: { podUpdatePolicy: "ReCreate", maxUnavailable: MAX_UNAVAILABLE },
      };
    })
    .build();
  await client.create(CloneSet, HUB, cloneSet);
  await world.run(40_000);
}

const release = (partition: number, image = "web:2"): Promise<unknown> =>
  world.client.patch(
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

interface Pods {
  all: number;
  updated: number;
  ready: number;
}
async function podsOf(image = "web:2"): Promise<Pods> {
  const lists = await Promise.all(
    MEMBERS.map((cluster) => world.members.client.list(Pod, { cluster, namespace: "shop" })),
  );
  const pods = lists.flatMap(({ items }) => items).filter(({ metadata }) => !metadata.deletionTimestamp);
  return {
    all: pods.length,
    updated: pods.filter(({ spec }) => spec?.containers[0]?.image === image).length,
    ready: pods.filter(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
    ).length,
  };
}

/** Runs for a while, and looks at the pods every quarter of a second. */
async function watchPods(ms: number, check: (pods: Pods) => void): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    await world.run(250);
    check(await podsOf());
  }
}

const leadsAll = (process: ControllersProcess): boolean => process.leads().length === CONTROLLER_GROUPS.length;
const firstWriteAfter = (process: ControllersProcess, atMs: number): number | undefined =>
  process.writes().find((write) => write.atMs >= atMs)?.atMs;

test("a standby writes nothing, and after a kill it continues a release within ten seconds", async () => {
  world = await startControllersWorld(MEMBERS);
  const first = world.startProcess();
  await world.run(1_000);
  const second = world.startProcess();
  await deploy();
  expect([leadsAll(first), second.leads(), second.writes()]).toEqual([true, [], []]);

  await release(0);
  await world.run(500);
  first.kill();
  const killedMs = world.clock.now();
  await world.run(60_000);

  expect(leadsAll(second)).toBe(true);
  expect((firstWriteAfter(second, killedMs) ?? Infinity) - killedMs).toBeLessThan(10_000);
  expect(await podsOf()).toEqual({ all: REPLICAS, updated: REPLICAS, ready: REPLICAS });
});

test("after a clean stop the standby takes over within two seconds, and the former leader has written nothing after it", async () => {
  world = await startControllersWorld(MEMBERS);
  const first = world.startProcess();
  await world.run(1_000);
  const second = world.startProcess();
  await deploy();

  await release(0);
  await world.run(500);
  const stoppedMs = world.clock.now();
  const stopped = first.stop();
  await world.run(2_000);
  await stopped;
  const taken = leadsAll(second);
  await world.run(30_000);

  expect(taken).toBe(true);
  expect(first.writes().filter(({ atMs }) => atMs > stoppedMs)).toEqual([]);
  expect(await podsOf()).toEqual({ all: REPLICAS, updated: REPLICAS, ready: REPLICAS });
});

test("a standby whose watches stalled keeps updated pods on the new revision when it takes over", async () => {
  world = await startControllersWorld(MEMBERS);
  const first = world.startProcess();
  await world.run(1_000);
  const second = world.startProcess();
  await deploy();

  second.stallWatches();
  await release(0);
  await world.run(20_000);
  const released = await podsOf();
  first.kill();
  let fewest = REPLICAS;
  await watchPods(30_000, ({ updated }) => void (fewest = Math.min(fewest, updated)));

  expect(released.updated).toBe(REPLICAS);
  expect(leadsAll(second)).toBe(true);
  expect(fewest).toBe(REPLICAS);
});

/** Milliseconds after a release in which the leader ends; the pods of a member change in the first seconds. */
const MOMENTS = [0, 250, 750, 1_500, 3_000, 6_000];
test.each(MOMENTS)("a take-over %d ms after a release never exceeds its partition or its budget", async (afterMs) => {
  world = await startControllersWorld(MEMBERS, afterMs + 1);
  const first = world.startProcess();
  await world.run(1_000);
  const second = world.startProcess();
  await deploy();

  await release(4);
  await world.run(afterMs);
  first.kill();
  let [most, fewest, largest] = [0, REPLICAS, 0];
  await watchPods(40_000, ({ all, updated, ready }) => {
    most = Math.max(most, updated);
    fewest = Math.min(fewest, ready);
    largest = Math.max(largest, all);
  });

  expect(await podsOf()).toEqual({ all: REPLICAS, updated: 5, ready: REPLICAS });
  expect({ most, largest }).toEqual({ most: 5, largest: REPLICAS });
  expect(fewest).toBeGreaterThanOrEqual(REPLICAS - MAX_UNAVAILABLE);
  expect(leadsAll(second)).toBe(true);
});

test("a leader that was paused past its Lease writes nothing when it continues", async () => {
  world = await startControllersWorld(MEMBERS);
  const first = world.startProcess();
  await world.run(1_000);
  const second = world.startProcess();
  await deploy();

  // In the middle of its writes.
  await release(6);
  first.pause();
  await world.run(20_000);
  expect(leadsAll(second)).toBe(true);
  await release(3, "web:3");
  await world.run(200);
  const resumedMs = world.clock.now();
  first.resume();
  await world.run(30_000);

  expect(first.writes().filter(({ atMs }) => atMs >= resumedMs)).toEqual([]);
  expect(first.leads()).toEqual([]);
  expect(await podsOf("web:3")).toEqual({ all: REPLICAS, updated: 6, ready: REPLICAS });
});

test("each shard delivers to its own members, and one that is missing does not delay the others", async () => {
  world = await startControllersWorld(MEMBERS);
  const shards = new Map(MEMBERS.map((name) => [name, shardOf(name, 2)]));
  expect(new Set(shards.values())).toEqual(new Set([0, 1]));
  const rest = world.startProcess({ groups: ["propagation", "membership", "ocm"] });
  const [zero, one] = [0, 1].map((index) =>
    world.startProcess({ groups: ["delivery"], shard: { index, count: 2 } }),
  ) as [ControllersProcess, ControllersProcess];
  await deploy();
  const writtenBy = (process: ControllersProcess): string[] =>
    [...new Set(process.writes().map(({ cluster }) => cluster))].filter((name) => name !== HUB).toSorted();
  const membersOf = (index: number): string[] => MEMBERS.filter((name) => shards.get(name) === index);

  expect([writtenBy(rest), writtenBy(zero), writtenBy(one)]).toEqual([[], membersOf(0), membersOf(1)]);
  expect((await podsOf("web:1")).all).toBe(REPLICAS);

  one.kill();
  await world.client.create(ConfigMap, HUB, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "late", labels: { app: "late" } },
  });
  await world.client.create(
    PropagationPolicy,
    HUB,
    makePolicy("shop/late")
      .selects("v1", "ConfigMap")
      .duplicates(...MEMBERS)
      .build(),
  );
  await world.run(20_000);
  const works = (await world.client.list(Work, { cluster: HUB })).items.filter(({ metadata }) =>
    metadata.name.startsWith("late"),
  );
  const applied = works
    .filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === "Applied" && is === "True"))
    .map(({ metadata }) => (metadata.namespace ?? "").replace("karmada-es-", ""));
  expect(applied.toSorted()).toEqual(membersOf(0));

  world.startProcess({ groups: ["delivery"], shard: { index: 1, count: 2 } });
  await world.run(20_000);
  const found = await Promise.all(
    MEMBERS.map((cluster) => world.members.client.list(ConfigMap, { cluster, namespace: "shop" })),
  );
  expect(found.map(({ items }) => items.filter(({ metadata }) => metadata.name === "late").length)).toEqual([1, 1, 1]);
});

test("shards of another number start only when all of the former number have ended", async () => {
  world = await startControllersWorld(MEMBERS);
  const old = [0, 1].map((index) => world.startProcess({ groups: ["delivery"], shard: { index, count: 2 } }));
  await world.run(5_000);
  const grown = [0, 1, 2].map((index) => world.startProcess({ groups: ["delivery"], shard: { index, count: 3 } }));
  await world.run(20_000);
  expect([...old, ...grown].map((process) => process.leads().length)).toEqual([1, 1, 0, 0, 0]);

  const stopped = old[0]?.stop();
  await world.run(20_000);
  await stopped;
  expect([...old, ...grown].map((process) => process.leads().length)).toEqual([0, 1, 0, 0, 0]);

  old[1]?.kill();
  await world.run(40_000);
  expect([...old, ...grown].map((process) => process.leads().length)).toEqual([0, 0, 1, 1, 1]);
});
