import { expect, test } from "vitest";
import { createFakeClock, createLog } from "@flotilla/base";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { createEventRecorders } from "./create-event-recorders.ts";
import { Event } from "./kinds.ts";

const web = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop", uid: "u1", resourceVersion: "7" },
};
const scaled = {
  type: "Normal" as const,
  reason: "ScalingReplicaSet",
  message: "Scaled up replica set web-1 from 0 to 3",
};

function setUp() {
  const clock = createFakeClock(Date.parse("2024-05-01T12:00:00Z"));
  const client = createFakeClient({ clock });
  const log = createLog({ level: "silent", clock, write: () => {} });
  return { clock, client, ...createEventRecorders({ client, clock, log }) };
}

test("an event contains its object, its source and its time", async () => {
  const { client, recorders, stop } = setUp();

  recorders("deployment-controller").record("member1", web, scaled);
  await stop();

  const { items } = await client.list(Event, { cluster: "member1" });
  expect(items).toMatchObject([
    {
      metadata: { namespace: "shop", name: expect.stringMatching(/^web\.[0-9a-f]+$/) as string },
      involvedObject: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        namespace: "shop",
        name: "web",
        uid: "u1",
        resourceVersion: "7",
      },
      ...scaled,
      source: { component: "deployment-controller" },
      firstTimestamp: "2024-05-01T12:00:00Z",
      count: 1,
    },
  ]);
});

test("a repeated event is one event with a count", async () => {
  const { client, clock, recorders, stop, isQuiet } = setUp();

  recorders("deployment-controller").record("member1", web, scaled);
  expect(isQuiet()).toBe(false);
  clock.advance(5000);
  recorders("deployment-controller").record("member1", web, scaled);
  await stop();

  const { items } = await client.list(Event, { cluster: "member1" });
  expect(isQuiet()).toBe(true);
  expect(items).toMatchObject([{ count: 2, lastTimestamp: "2024-05-01T12:00:05Z" }]);
});

test("events of cluster-scoped objects are written to the default namespace", async () => {
  const { client, recorders, stop } = setUp();

  recorders("node-controller").record(
    "member1",
    { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } },
    { type: "Normal", reason: "NodeNotReady", message: "Node node-1 status is now: NodeNotReady" },
  );
  await stop();

  const { items } = await client.list(Event, { cluster: "member1" });
  expect(items.map(({ metadata }) => metadata.namespace)).toEqual(["default"]);
});

test("a server that rejects events does not block the recorder", async () => {
  const { client, recorders, stop } = setUp();
  client.failNext("create", new Error("no"));

  recorders("a").record("member1", web, scaled);
  recorders("a").record("member1", web, { ...scaled, reason: "Other" });
  await stop();

  const { items } = await client.list(Event, { cluster: "member1" });
  expect(items.map(({ reason }) => reason)).toEqual(["Other"]);
});
