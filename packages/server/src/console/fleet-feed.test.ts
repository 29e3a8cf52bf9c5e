/** The rows of a fleet while workloads and members come and go. */
import { beforeEach, expect, test } from "vitest";
import { HUB } from "@flotilla/apimachinery";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { FakeClock } from "@flotilla/base";
import { fleetQuestions } from "@flotilla/cli";
import { Cluster, ResourceBinding } from "@flotilla/karmada";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import type { FakeClient } from "@flotilla/testing/fake-client.ts";
import { createFleetFeed } from "./fleet-feed.ts";
import type { FleetFeed } from "./fleet-feed.ts";
import { createTestHub } from "./test-hub.ts";
import type { TestHub } from "./test-hub.ts";

let clock: FakeClock;
let client: FakeClient;
let hub: TestHub;
let feed: FleetFeed;
let changes: number;
beforeEach(async () => {
  clock = createFakeClock();
  client = createFakeClient({ clock });
  hub = createTestHub();
  changes = 0;
  feed = createFleetFeed({
    client: { ...client, raw: hub.client.raw },
    scope: { hidden: [], live: false },
    summaries: await fleetQuestions.summaries(),
    clock,
    log: silentLog,
  });
  feed.subscribe(() => (changes += 1));
  await Promise.all([feed.synced(new AbortController().signal), hub.settle()]);
  return () => feed.close();
});

async function pass(ms: number): Promise<void> {
  await hub.settle();
  clock.advance(ms);
  await hub.settle();
}
const PATH = "/apis/cluster.karmada.io/v1alpha1/clusters/oslo/proxy/apis/apps/v1/deployments";
async function addMember(name: string): Promise<void> {
  const created = await client.create(Cluster, HUB, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Push" },
  });
  const lastTransitionTime = new Date(clock.now()).toISOString();
  const ready = { type: "Ready", status: "True" as const, reason: "Ready", message: "", lastTransitionTime };
  await client.updateStatus(Cluster, HUB, { ...created, status: { conditions: [ready] } });
}
const addWorkload = (name: string): Promise<unknown> =>
  client.create(ResourceBinding, HUB, {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name: `${name}-deployment`, namespace: "shop" },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name },
      clusters: [{ name: "oslo", replicas: 1 }],
    },
  });
const removeWorkload = (name: string): Promise<unknown> =>
  client.delete(ResourceBinding, { cluster: HUB, namespace: "shop", name: `${name}-deployment` });
const names = (): string[] => feed.workloads().map(({ name }) => name);

test("rows follow bindings", async () => {
  await addWorkload("web");
  await addWorkload("cart");
  await pass(100);
  expect([names(), changes]).toEqual([["web", "cart"], 1]);

  await removeWorkload("web");
  await pass(100);

  expect([names(), changes]).toEqual([["cart"], 2]);
});

test("a fleet that is filled and emptied ten times has no rows, and watches nothing on members", async () => {
  hub.stream(PATH);
  await addMember("oslo");
  for (let round = 0; round < 10; round++) {
    for (let index = 0; index < 5; index++) await addWorkload(`web-${round}-${index}`);
    await pass(100);
    await pass(100);
    expect(names()).toHaveLength(5);
    expect(hub.streamOf(PATH).isOpen).toBe(true);

    for (let index = 0; index < 5; index++) await removeWorkload(`web-${round}-${index}`);
    await pass(100);

    expect(names()).toEqual([]);
    expect(hub.streamsOf(PATH).filter(({ isOpen }) => isOpen)).toEqual([]);
  }
});

test("a closed feed leaves no requests and timers", async () => {
  hub.stream(PATH);
  await addMember("oslo");
  await addWorkload("web");
  await pass(100);
  await pass(100);

  feed.close();
  await hub.settle();

  expect(hub.streamsOf(PATH).filter(({ isOpen }) => isOpen)).toEqual([]);
  expect(clock.nextDue()).toBeUndefined();
});
