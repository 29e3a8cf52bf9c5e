/** After any connection failures, an informer converges to the server's state, and its events add up to that. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { dynamicKind, isAlreadyExists, isNotFound } from "@flotilla/apimachinery";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import { createFakeClient, type FakeClient } from "@flotilla/testing/fake-client.ts";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import { createInformers } from "./informers.ts";

const Widget = dynamicKind({
  group: "example.dev",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
});

const step = fc.oneof(
  fc.record({
    type: fc.constantFrom("create", "update", "delete"),
    name: fc.constantFrom("a", "b", "c"),
    cluster: fc.constantFrom("paris", "oslo"),
    value: fc.nat(3),
  }),
  fc.record({ type: fc.constantFrom("disconnect", "go down", "come up", "compact", "settle") }),
  fc.record({ type: fc.constant("wait"), ms: fc.integer({ min: 1, max: 40_000 }) }),
);
type Step = { type: string; name?: string; cluster?: string; value?: number; ms?: number };

test("an informer converges to the server's state, and its events add up to that", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.nat(), async (steps: Step[], seed) => {
      const clock = createFakeClock();
      const client = createFakeClient({ clock });
      const informers = createInformers({
        client,
        clock,
        log: silentLog,
        scope: { cluster: "*" },
        random: createSeededRandom(seed),
      });
      const informer = informers.of(Widget);
      const replayed = new Map<string, string | undefined>();
      const misfits: string[] = [];
      const settle = () => reconcileUntilQuiet({ managers: [informers], server: client });
      informer.subscribe(({ cluster, object, old, deleted }) => {
        const id = `${cluster}/${object.metadata.name}`;
        // Each event is consistent with the previous ones: nothing is added twice, or changed or deleted before it was
        // added.
        if (replayed.has(id) !== (old !== undefined) || replayed.get(id) !== old?.metadata.resourceVersion)
          misfits.push(id);
        if (deleted) replayed.delete(id);
        else replayed.set(id, object.metadata.resourceVersion);
      });

      for (const { type, name = "", cluster = "", value = 0, ms = 0 } of steps) {
        if (type === "disconnect") client.disconnect();
        else if (type === "go down") client.disconnect({ down: true });
        else if (type === "come up") client.up();
        else if (type === "compact") client.compact();
        else if (type === "settle") await settle();
        else if (type === "wait") clock.advance(ms);
        else await write(client, type, cluster, name, value);
      }
      client.up();
      await settle();
      clock.advance(60_000);
      await settle();

      const want = new Map<string, string | undefined>();
      for (const cluster of ["paris", "oslo"]) {
        const { items } = await client.list(Widget, { cluster });
        for (const { metadata } of items) want.set(`${cluster}/${metadata.name}`, metadata.resourceVersion);
      }
      expect(misfits).toEqual([]);
      expect(replayed).toEqual(want);
      expect(new Set(informer.list().map(({ metadata }) => metadata.resourceVersion))).toEqual(new Set(want.values()));
      informers.close();
    }),
    { numRuns: 150 },
  );
});

/** A write by another client with its own connection, so it also happens while the informer has none. */
async function write(client: FakeClient, type: string, cluster: string, name: string, value: number): Promise<void> {
  const object = {
    apiVersion: "example.dev/v1",
    kind: "Widget",
    metadata: { name, namespace: "shop" },
    spec: { value },
  };
  const wasDown = client.isDown;
  client.up();
  try {
    if (type === "create") await client.create(Widget, cluster, object);
    else if (type === "update") await client.update(Widget, cluster, object);
    else await client.delete(Widget, { cluster, namespace: "shop", name });
  } catch (error) {
    if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
  }
  if (wasDown) client.disconnect({ down: true });
}
