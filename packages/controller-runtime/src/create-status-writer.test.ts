import { describe, expect, test } from "vitest";
import { conflict, CONFLICT_MESSAGE, dynamicKind, forbidden, invalid, inVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { createFakeClock, silentLog, type DeepReadonly } from "@flotilla/base";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { createStatusWriter, type StatusWriterOptions } from "./create-status-writer.ts";
import type { ObjectEvent } from "./runtime-controller.ts";

interface Widget extends KubernetesObject {
  status?: Record<string, string>;
}
const widgets = { group: "example.dev", resource: "widgets" };
const Widget = inVersion<Widget>(
  dynamicKind({ group: "example.dev", version: "v1", kind: "Widget", plural: "widgets", scope: "Namespaced" }),
  "v1",
);
const key = { cluster: "hub", namespace: "shop", name: "a" };

/** A change that sets one field, as each owner does. */
const setting =
  (field: string, value: string) =>
  (object: DeepReadonly<Widget>): DeepReadonly<Widget> => ({ ...object, status: { ...object.status, [field]: value } });

async function setUp({
  windowMs = 0,
  ...options
}: Partial<Pick<StatusWriterOptions<Widget>, "windowMs" | "onRejected">> = {}) {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  const seen: { object: DeepReadonly<Widget> | undefined } = {
    object: await client.create(Widget, "hub", {
      apiVersion: "example.dev/v1",
      kind: "Widget",
      metadata: { name: "a", namespace: "shop" },
    }),
  };
  const writer = createStatusWriter<Widget>({
    client,
    kind: Widget,
    lister: { get: () => seen.object },
    clock,
    windowMs,
    log: silentLog,
    ...options,
  });
  const status = async (): Promise<unknown> => (await client.get(Widget, key)).status;
  /** Lets work started by the clock or the next turn complete. */
  const settle = async (): Promise<void> => {
    do await new Promise((resolve) => void setImmediate(resolve));
    while (!writer.isQuiet());
  };
  return { clock, client, seen, writer, status, settle };
}

describe("progress", () => {
  const timing = { debounceMs: 1500, everyMs: 200 };

  test("is written soon after a pause, and then once per interval", async () => {
    const { clock, client, seen, writer, status, settle } = await setUp({ windowMs: 50 });
    const pass = async (ms: number): Promise<void> => {
      clock.advance(ms);
      await settle();
      seen.object = await client.get(Widget, key);
    };

    writer.set(key, "reflect", setting("ready", "1"), timing);
    await pass(20);
    expect(await status()).toEqual({ ready: "1" });

    writer.set(key, "reflect", setting("ready", "2"), timing);
    await pass(100);
    writer.set(key, "reflect", setting("ready", "3"), timing);
    await pass(99);
    expect(client.count("updateStatus")).toBe(1);
    await pass(1);
    expect(await status()).toEqual({ ready: "3" });
    expect(client.count("updateStatus")).toBe(2);

    await pass(1000);
    writer.set(key, "reflect", setting("ready", "4"), timing);
    await pass(50);
    expect(await status()).toEqual({ ready: "4" });
  });

  test("waits for the whole delay while many objects change", async () => {
    const { clock, writer, status, settle } = await setUp({ windowMs: 50 });
    for (let index = 0; index < 200; index++)
      writer.set({ ...key, name: `other-${index}` }, "reflect", setting("ready", "1"), { debounceMs: 60_000 });

    writer.set(key, "reflect", setting("ready", "1"), timing);
    clock.advance(1499);
    await settle();
    expect(await status()).toBeUndefined();

    clock.advance(1);
    await settle();
    expect(await status()).toEqual({ ready: "1" });
  });

  test("waits for the whole delay while many objects progress one after another", async () => {
    const { clock, writer, status, settle } = await setUp({ windowMs: 50 });
    const others = async (count: number, everyMs: number): Promise<void> => {
      for (let index = 0; index < count; index++) {
        writer.set({ ...key, name: `other-${index}` }, "reflect", (object) => object, timing);
        clock.advance(everyMs);
        await settle();
      }
    };
    await others(300, 2);

    writer.set(key, "reflect", setting("ready", "1"), timing);
    clock.advance(1499);
    await settle();
    expect(await status()).toBeUndefined();
    clock.advance(1);
    await settle();
    expect(await status()).toEqual({ ready: "1" });

    await others(100, 20);
    writer.set(key, "reflect", setting("ready", "2"), timing);
    clock.advance(20);
    await settle();
    expect(await status()).toEqual({ ready: "2" });
  });
});

describe("batching", () => {
  test("changes of several owners become one write", async () => {
    const { client, writer, status, settle } = await setUp();

    writer.set(key, "reflect", setting("replicas", "3"));
    writer.set(key, "health", setting("health", "Healthy"));
    await settle();

    expect(await status()).toEqual({ replicas: "3", health: "Healthy" });
    expect(client.count("updateStatus")).toBe(1);
  });

  test("changes are applied in the order of their owners, regardless of arrival", async () => {
    const { writer, status, settle } = await setUp();

    writer.set(key, "b", setting("last", "b"));
    writer.set(key, "a", setting("last", "a"));
    await settle();

    expect(await status()).toEqual({ last: "b" });
  });

  test("a later change of the same owner replaces a pending one", async () => {
    const { client, writer, status, settle } = await setUp();

    writer.set(key, "reflect", setting("old", "1"));
    writer.set(key, "reflect", setting("new", "2"));
    await settle();

    expect(await status()).toEqual({ new: "2" });
    expect(client.count("updateStatus")).toBe(1);
  });

  test("nothing is written before the window is over", async () => {
    const { clock, client, writer, status, settle } = await setUp({ windowMs: 100 });

    writer.set(key, "reflect", setting("replicas", "3"));
    clock.advance(99);
    await settle();
    expect(client.count("updateStatus")).toBe(0);
    clock.advance(1);
    await settle();

    expect(await status()).toEqual({ replicas: "3" });
  });

  test("a change during a write waits for it, and builds on it even when the lister has not seen it", async () => {
    const { client, clock, writer, status, settle } = await setUp({ windowMs: 10 });
    writer.set(key, "reflect", setting("replicas", "3"));
    clock.advance(10);

    writer.set(key, "health", setting("health", "Healthy"));
    await settle();
    clock.advance(10);
    await settle();

    expect(await status()).toEqual({ replicas: "3", health: "Healthy" });
    // The second write, its conflict, and the retry on the newly read object.
    expect(client.count("updateStatus")).toBe(3);
  });
});

describe("debounce", () => {
  test("a change that is not urgent waits for other changes and is written with them", async () => {
    const { client, clock, writer, status, settle } = await setUp({ windowMs: 10 });
    writer.set(key, "schedule", setting("scheduled", "yes"), { debounceMs: 500 });
    clock.advance(100);
    await settle();
    expect(client.count("updateStatus")).toBe(0);

    writer.set(key, "aggregate", setting("replicas", "3"));
    clock.advance(10);
    await settle();

    expect(await status()).toEqual({ scheduled: "yes", replicas: "3" });
    expect(client.count("updateStatus")).toBe(1);
  });

  test("without other changes it is written after its delay", async () => {
    const { clock, writer, status, settle } = await setUp({ windowMs: 10 });
    writer.set(key, "schedule", setting("scheduled", "yes"), { debounceMs: 500 });

    clock.advance(500);
    await settle();

    expect(await status()).toEqual({ scheduled: "yes" });
  });

  test("it waits longer while many objects wait", async () => {
    const { clock, writer, status, settle } = await setUp({ windowMs: 10 });
    for (let index = 0; index < 200; index++)
      writer.set({ ...key, name: `other-${index}` }, "schedule", (object) => object, { debounceMs: 60_000 });
    writer.set(key, "schedule", setting("scheduled", "yes"), { debounceMs: 500, busyMs: 800 });

    clock.advance(799);
    await settle();
    expect(await status()).toBeUndefined();

    clock.advance(1);
    await settle();
    expect(await status()).toEqual({ scheduled: "yes" });
  });
});

describe("avoiding writes", () => {
  test("a change without effect is not written", async () => {
    const { client, writer, seen, settle } = await setUp();
    writer.set(key, "reflect", setting("replicas", "3"));
    await settle();
    seen.object = await client.get(Widget, key);

    writer.set(key, "reflect", setting("replicas", "3"));
    await settle();

    expect(client.count("updateStatus")).toBe(1);
  });

  test("a deleted object needs no write", async () => {
    const { client, writer, seen, settle } = await setUp();
    await client.delete(Widget, key);

    writer.set(key, "reflect", setting("replicas", "3"));
    await settle();
    seen.object = undefined;
    writer.set(key, "reflect", setting("replicas", "3"));
    await settle();

    expect(client.writes.map(({ verb }) => verb)).toEqual(["create", "delete"]);
  });
});

describe("failures", () => {
  test("after a conflict the changes are applied to the newest object", async () => {
    const { client, writer, status, settle } = await setUp();
    await client.patch(Widget, key, { status: { other: "1" } }, { type: "merge", subresource: "status" });

    writer.set(key, "reflect", setting("replicas", "3"));
    await settle();

    expect(await status()).toEqual({ other: "1", replicas: "3" });
  });

  test("a failed write is retried after a while, together with later changes", async () => {
    const { client, clock, writer, status, settle } = await setUp({ windowMs: 10 });
    client.failNext("updateStatus", forbidden(widgets, "a", "not allowed"));
    writer.set(key, "a", setting("a", "1"));
    clock.advance(10);
    await settle();
    expect(await status()).toBeUndefined();

    writer.set(key, "b", setting("b", "2"));
    clock.advance(100);
    await settle();

    expect(await status()).toEqual({ a: "1", b: "2" });
    expect(client.count("updateStatus")).toBe(2);
  });

  test("a status that the server rejects is reported once, with the server's message", async () => {
    const reported: string[] = [];
    const { client, clock, writer, settle } = await setUp({
      windowMs: 10,
      onRejected: ({ metadata }, { message }) => reported.push(`${metadata.name}: ${message}`),
    });
    const refusal = invalid("example.dev", "Widget", "a", [
      { type: "Invalid", field: "status.replicas", message: "Invalid value: too many" },
    ]);
    client.failNext("updateStatus", refusal, refusal);
    writer.set(key, "aggregate", setting("replicas", "3"));
    clock.advance(10);
    await settle();
    clock.advance(100);
    await settle();

    expect(reported).toEqual([`a: ${refusal.message}`]);
  });

  test("repeated conflicts wait for the backoff instead of spinning", async () => {
    const { client, clock, writer, status, settle } = await setUp({ windowMs: 10 });
    client.failNext("updateStatus", ...Array.from({ length: 5 }, () => conflict(widgets, "a", CONFLICT_MESSAGE)));
    writer.set(key, "reflect", setting("replicas", "3"));
    clock.advance(10);
    await settle();
    expect(client.count("updateStatus")).toBe(5);

    clock.advance(100);
    await settle();

    expect(await status()).toEqual({ replicas: "3" });
  });

  test("a change is not written to a new object of the same name", async () => {
    const { client, clock, seen, writer, status, settle } = await setUp({ windowMs: 10 });
    writer.set(key, "reflect", setting("replicas", "3"));
    await client.delete(Widget, key);
    seen.object = await client.create(Widget, "hub", {
      apiVersion: "example.dev/v1",
      kind: "Widget",
      metadata: { name: "a", namespace: "shop" },
    });

    clock.advance(10);
    await settle();

    expect(await status()).toBeUndefined();
  });

  test("a failed change is not retried on a new object of the same name", async () => {
    const { client, clock, seen, writer, status, settle } = await setUp({ windowMs: 10 });
    client.failNext("updateStatus", forbidden(widgets, "a", "not allowed"));
    writer.set(key, "execute", setting("old", "1"));
    clock.advance(10);
    await client.delete(Widget, key);
    seen.object = await client.create(Widget, "hub", {
      apiVersion: "example.dev/v1",
      kind: "Widget",
      metadata: { name: "a", namespace: "shop" },
    });
    writer.set(key, "reflect", setting("new", "2"));
    await settle();

    clock.advance(200);
    await settle();

    expect(await status()).toEqual({ new: "2" });
  });

  test("a change that throws is dropped and the others are written", async () => {
    const { writer, status, settle } = await setUp();

    writer.set(key, "broken", () => {
      throw new Error("unexpected shape");
    });
    writer.set(key, "fine", setting("replicas", "3"));
    await settle();

    expect(await status()).toEqual({ replicas: "3" });
  });

  test("a closed writer writes nothing more", async () => {
    const { client, clock, writer, settle } = await setUp({ windowMs: 100 });
    writer.set(key, "reflect", setting("replicas", "3"));

    await writer.close();
    clock.advance(100);
    await settle();

    expect(client.count("updateStatus")).toBe(0);
  });
});

describe("its own write", () => {
  /** What `wrote` answers for the event of a write, which comes before the writer has its answer. */
  async function answers({
    owner,
    changed = (object) => object,
  }: { owner?: string; changed?: (object: DeepReadonly<Widget>) => unknown } = {}): Promise<{
    during: boolean;
    after: boolean;
  }> {
    const { client, seen } = await setUp();
    const answered = Promise.withResolvers<boolean>();
    const event = { cluster: "hub", object: seen.object, old: seen.object, deleted: false } as ObjectEvent<Widget>;
    const writer = createStatusWriter<Widget>({
      client: {
        ...client,
        async updateStatus(...request) {
          const answer = await client.updateStatus(...request);
          event.object = changed(answer) as DeepReadonly<Widget>;
          answered.resolve(writer.wrote(event, owner));
          return answer;
        },
      },
      kind: Widget,
      lister: { get: () => seen.object },
      clock: createFakeClock(),
      windowMs: 0,
      log: silentLog,
    });
    writer.set(key, "reflect", setting("ready", "1"));
    writer.set(key, "execute", (object) => object);
    const during = await answered.promise;
    await writer.close();
    return { during, after: writer.wrote(event, owner) };
  }

  test("is recognized while its answer is awaited, for the owners that changed something", async () => {
    expect(await answers()).toEqual({ during: true, after: false });
    expect(await answers({ owner: "reflect" })).toEqual({ during: true, after: false });
    expect(await answers({ owner: "execute" })).toEqual({ during: false, after: false });
  });

  test("is not another client's write of the same version", async () => {
    const otherStatus = (object: DeepReadonly<Widget>): unknown => ({ ...object, status: { ready: "9" } });
    const otherLabels = (object: DeepReadonly<Widget>): unknown => ({
      ...object,
      metadata: { ...object.metadata, labels: { team: "a" } },
    });

    expect(await answers({ changed: otherStatus })).toMatchObject({ during: false });
    expect(await answers({ changed: otherLabels })).toMatchObject({ during: false });
  });
});
