/** Pods that move between members while a release waits: never more of them are updated than the open wave allows. */
import { afterEach, expect, test } from "vitest";
import type { Json } from "@flotilla/base";
import { FleetRollout } from "@flotilla/flotilla";
import { Pod } from "@flotilla/kubernetes";
import { CloneSet } from "@flotilla/openkruise";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { runCommand } from "./run-command.ts";
import { createStrategy, releaseImage, startShop, WEB as web } from "./shop-fleet.ts";

const MEMBERS = ["member1", "member2", "member3"];
const WAVES = [
  { name: "canary", pods: 3 },
  { name: "all", before: [{ approval: {} }] },
];
const STEP_MS = 500;

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(waves: object[] = WAVES): Promise<void> {
  const policy = makePolicy("shop/all").selects("apps.kruise.io/v1beta1", "CloneSet");
  fleet = await startShop(MEMBERS, policy.weights(Object.fromEntries(MEMBERS.map((name) => [name, 1]))).build());
  await createStrategy(fleet.client, {
    waves,
    order: "Ordered",
  });
  const cloneSet = makeCloneSet("shop/web")
    .replicas(9)
    .with(({ metadata }) => {
      metadata.labels = { release: "careful" };
    })
    .build();
  await fleet.client.create(CloneSet, "hub", cloneSet);
  await fleet.run(20_000);
  await releaseImage(fleet.client, CloneSet, "web:2");
  await fleet.run(30_000);
}

/** Pods by member, and those of them that have the release. */
async function pods(): Promise<Record<string, [all: number, updated: number]>> {
  const counts: Record<string, [number, number]> = {};
  for (const cluster of MEMBERS) {
    const { items } = await fleet.client.list(Pod, { cluster, namespace: "shop" });
    const live = items.filter(({ metadata }) => !metadata.deletionTimestamp);
    counts[cluster] = [live.length, live.filter(({ spec }) => spec.containers[0]?.image === "web:2").length];
  }
  return counts;
}

async function mostUpdatedIn(ms: number): Promise<number> {
  let most = 0;
  for (let at = 0; at < ms; at += STEP_MS) {
    await fleet.run(STEP_MS);
    most = Math.max(
      most,
      Object.values(await pods()).reduce((sum, [, updated]) => sum + updated, 0),
    );
  }
  return most;
}

const newest = async (): Promise<FleetRollout> => {
  const { items } = await fleet.client.list(FleetRollout, { cluster: "hub", namespace: "shop" });
  return items.toSorted((a, b) => b.spec.number - a.spec.number)[0] as FleetRollout;
};

test("pods that leave a drained member keep their revision while the next wave waits for approval", async () => {
  await start();
  expect(await pods()).toEqual({ member1: [3, 3], member2: [3, 0], member3: [3, 0] });

  expect(await drain("member3")).toBe(3);

  expect(await pods()).toEqual({ member1: [5, 3], member2: [4, 0], member3: [0, 0] });
  const { status } = await newest();
  expect(status).toMatchObject({
    phase: "Progressing",
    waitingFor: "approval of all",
    updated: 3,
    ready: 3,
    total: 9,
    plan: [
      { name: "canary", updated: 3, clusters: ["member1"] },
      { name: "all", updated: 9 },
    ],
  });
  expect((await fleet.client.get(CloneSet, web)).status).toMatchObject({ updatedReplicas: 3, readyReplicas: 9 });

  await change({ approvals: ["all"] });
  await fleet.run(60_000);

  expect((await newest()).status).toMatchObject({ phase: "Succeeded", updated: 9, ready: 9 });
  expect(Object.values(await pods()).reduce((sum, [, updated]) => sum + updated, 0)).toBe(9);
});

async function drain(member: string): Promise<number> {
  const drained = runCommand(fleet, "drain", member, "--timeout", "60");
  const most = await mostUpdatedIn(40_000);
  await drained;
  return most;
}

const change = async (spec: Json): Promise<unknown> =>
  fleet.client.patch(FleetRollout, { ...web, name: (await newest()).metadata.name }, { spec }, { type: "merge" });

test("pods that a drained member had updated are updated again elsewhere, and no others", async () => {
  await start();

  expect(await drain("member1")).toBe(3);

  const counts = await pods();
  expect(counts["member1"]).toEqual([0, 0]);
  expect(Object.values(counts).reduce((sum, [, updated]) => sum + updated, 0)).toBe(3);
  expect((await newest()).status).toMatchObject({ waitingFor: "approval of all", updated: 3 });
});

test("a release that is aborted after pods have moved returns all of them", async () => {
  await start();
  await drain("member3");

  await change({ abort: true });
  await fleet.run(60_000);

  expect((await newest()).status).toMatchObject({ phase: "RolledBack" });
  expect(Object.values(await pods()).map(([, updated]) => updated)).toEqual([0, 0, 0]);
});

test("pods move twice, and a later wave raises the number on the member that they moved to", async () => {
  await start([
    { name: "canary", pods: 3 },
    { name: "more", pods: 4, before: [{ approval: {} }] },
    { name: "all", before: [{ approval: {} }] },
  ]);
  const most = [await drain("member3"), await drain("member2")];
  expect([most, await pods()]).toEqual([[3, 3], { member1: [9, 3], member2: [0, 0], member3: [0, 0] }]);

  await change({ approvals: ["more"] });

  expect(await mostUpdatedIn(40_000)).toBe(4);
  expect((await newest()).status).toMatchObject({ waitingFor: "approval of all", updated: 4, ready: 4 });
  await fleet.client.patch(CloneSet, web, { spec: { replicas: 11 } }, { type: "merge" });
  expect(await mostUpdatedIn(20_000)).toBe(4);
});

test("a newer template is released from where pods have moved", async () => {
  await start();
  await drain("member3");

  await releaseImage(fleet.client, CloneSet, "web:3");
  await fleet.run(30_000);

  expect((await newest()).status).toMatchObject({ waitingFor: "approval of all", updated: 3, ready: 3 });
  await change({ approvals: ["all"] });
  await fleet.run(60_000);
  expect((await newest()).status).toMatchObject({ phase: "Succeeded", updated: 9, ready: 9 });
});
