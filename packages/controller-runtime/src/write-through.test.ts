import { expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import { createFakeClock, silentLog } from "@flotilla/base";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { createInformers } from "./informers.ts";
import { createWriteThroughClient } from "./write-through.ts";

const Widget = dynamicKind({
  group: "example.dev",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
});
const key = { cluster: "hub", namespace: "shop", name: "a" };
const widget = { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "a", namespace: "shop" } };
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

async function setUp() {
  const clock = createFakeClock();
  const plain = createFakeClient({ clock });
  const informers = createInformers({ client: plain, clock, log: silentLog, scope: { cluster: "hub" } });
  const informer = informers.of(Widget);
  await informer.whenSynced(new AbortController().signal);
  const events: string[] = [];
  informer.subscribe(({ object, deleted }) =>
    events.push(`${deleted ? "deleted" : "present"} ${object.metadata.resourceVersion}`),
  );
  return { informers, plain, client: createWriteThroughClient(plain, [informers]), informer, events };
}

test("a write is in the lister before its watch event arrives, and is delivered once", async () => {
  const { client, informer, events } = await setUp();

  const created = await client.create(Widget, "hub", widget);

  expect(informer.get(key)).toBe(created);
  for (let i = 0; i < 20; i++) await turn();
  expect(events).toEqual([`present ${created.metadata.resourceVersion}`]);
});

test("a response that the watch has overtaken does not resurrect a deleted object", async () => {
  const { informers, plain, informer } = await setUp();
  const created = await plain.create(Widget, "hub", widget);
  await plain.delete(Widget, key);
  for (let i = 0; i < 20; i++) await turn();

  // The response to the create arrives late.
  informers.note(Widget, "hub", created);

  expect(informer.get(key)).toBeUndefined();
});

test("a dry run is not treated as a write", async () => {
  const { client, informer } = await setUp();
  const dry = createWriteThroughClient(
    {
      ...client,
      create: (_kind, _cluster, object) =>
        Promise.resolve({ ...object, metadata: { ...object.metadata, resourceVersion: "999" } } as never),
    },
    [{ note: () => expect.unreachable() }],
  );

  await dry.create(Widget, "hub", widget, { dryRun: true });

  expect(informer.get(key)).toBeUndefined();
});
