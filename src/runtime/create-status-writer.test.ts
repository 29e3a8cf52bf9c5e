import { describe, expect, test } from "vitest";
import { dynamicKind, inVersion, type KubernetesObject } from "../api/index.ts";
import { createFakeClock, silentLog, type DeepReadonly } from "../base/index.ts";
import { CHANGED_MEANWHILE, conflict, forbidden } from "../machinery/index.ts";
import { createFakeClient } from "../testing/index.ts";
import { createStatusWriter } from "./create-status-writer.ts";

interface Widget extends KubernetesObject {
  status?: Record<string, string>;
}
const widgets = { group: "example.dev", resource: "widgets" };
const Widget = inVersion<Widget>(dynamicKind({ group: "example.dev", version: "v1", kind: "Widget", plural: "widgets", scope: "Namespaced" }), "v1");
const key = { cluster: "hub", namespace: "shop", name: "a" };
const { signal } = new AbortController();

/** A change that sets one field, as each owner does. */
const setting =
  (field: string, value: string) =>
  (object: DeepReadonly<Widget>): DeepReadonly<Widget> => ({ ...object, status: { ...object.status, [field]: value } });

async function setUp({ windowMs = 0 }: { windowMs?: number } = {}) {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  const seen: { object: DeepReadonly<Widget> | undefined } = {
    object: await client.create(Widget, "hub", { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "a", namespace: "shop" } }),
  };
  const writer = createStatusWriter<Widget>({ client, kind: Widget, lister: { get: () => seen.object }, clock, windowMs, log: silentLog });
  const status = async (): Promise<unknown> => (await client.get(Widget, key)).status;
  return { clock, client, seen, writer, status };
}

describe("joining", () => {
  test("changes of several owners become one write", async () => {
    const { client, writer, status } = await setUp();

    await Promise.all([writer.set(key, "reflect", setting("replicas", "3"), signal), writer.set(key, "health", setting("health", "Healthy"), signal)]);

    expect(await status()).toEqual({ replicas: "3", health: "Healthy" });
    expect(client.count("updateStatus")).toBe(1);
    expect(writer.isQuiet()).toBe(true);
  });

  test("changes are applied in the order of their owners, whoever came first", async () => {
    const { writer, status } = await setUp();

    await Promise.all([writer.set(key, "b", setting("last", "b"), signal), writer.set(key, "a", setting("last", "a"), signal)]);

    expect(await status()).toEqual({ last: "b" });
  });

  test("a later change of the same owner replaces one that waits, and both callers are answered", async () => {
    const { client, writer, status } = await setUp();

    await Promise.all([writer.set(key, "reflect", setting("old", "1"), signal), writer.set(key, "reflect", setting("new", "2"), signal)]);

    expect(await status()).toEqual({ new: "2" });
    expect(client.count("updateStatus")).toBe(1);
  });

  test("nothing is written before the window is over", async () => {
    const { clock, client, writer, status } = await setUp({ windowMs: 100 });

    const written = writer.set(key, "reflect", setting("replicas", "3"), signal);
    clock.advance(99);
    expect(client.count("updateStatus")).toBe(0);
    clock.advance(1);
    await written;

    expect(await status()).toEqual({ replicas: "3" });
  });

  test("a change that comes during a write waits for it, and builds on it before the lister has seen it", async () => {
    const { client, writer, status } = await setUp();
    const first = writer.set(key, "reflect", setting("replicas", "3"), signal);
    await new Promise((resolve) => void setImmediate(resolve));

    const second = writer.set(key, "health", setting("health", "Healthy"), signal);
    await Promise.all([first, second]);

    expect(await status()).toEqual({ replicas: "3", health: "Healthy" });
    expect(client.count("updateStatus")).toBe(2);
    expect(client.count("get")).toBe(1);
  });
});

describe("sparing writes", () => {
  test("a change that changes nothing is not written", async () => {
    const { client, writer, seen } = await setUp();
    await writer.set(key, "reflect", setting("replicas", "3"), signal);
    seen.object = await client.get(Widget, key);

    await writer.set(key, "reflect", setting("replicas", "3"), signal);

    expect(client.count("updateStatus")).toBe(1);
  });

  test("an object that is gone needs no write", async () => {
    const { client, writer, seen } = await setUp();
    await client.delete(Widget, key);

    await writer.set(key, "reflect", setting("replicas", "3"), signal);
    seen.object = undefined;
    await writer.set(key, "reflect", setting("replicas", "3"), signal);

    expect(client.writes.map(({ verb }) => verb)).toEqual(["create", "delete"]);
  });
});

describe("failing", () => {
  test("after a conflict the changes are applied to the newest object", async () => {
    const { client, writer, status } = await setUp();
    await client.patch(Widget, key, { status: { other: "1" } }, { type: "merge", subresource: "status" });

    await writer.set(key, "reflect", setting("replicas", "3"), signal);

    expect(await status()).toEqual({ other: "1", replicas: "3" });
  });

  test("conflicts without end are given up", async () => {
    const { client, writer } = await setUp();
    client.failNext("updateStatus", ...Array.from({ length: 10 }, () => conflict(widgets, "a", CHANGED_MEANWHILE)));

    await expect(writer.set(key, "reflect", setting("replicas", "3"), signal)).rejects.toThrow("has been modified");

    expect(client.count("updateStatus")).toBe(5);
    expect(writer.isQuiet()).toBe(true);
  });

  test("a write that is refused fails everyone who waits for it", async () => {
    const { client, writer } = await setUp();
    client.failNext("updateStatus", forbidden(widgets, "a", "not allowed"));

    const outcomes = await Promise.allSettled([writer.set(key, "a", setting("a", "1"), signal), writer.set(key, "b", setting("b", "2"), signal)]);

    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  test("a change that throws fails its owner and no other", async () => {
    const { writer, status } = await setUp();
    const broken = writer.set(
      key,
      "broken",
      () => {
        throw new Error("unexpected shape");
      },
      signal,
    );
    const fine = writer.set(key, "fine", setting("replicas", "3"), signal);

    await expect(broken).rejects.toThrow("unexpected shape");
    await fine;

    expect(await status()).toEqual({ replicas: "3" });
  });

  test("a change whose caller has gone is not written", async () => {
    const { client, clock, writer } = await setUp({ windowMs: 100 });
    const stop = new AbortController();
    const waiting = writer.set(key, "reflect", setting("replicas", "3"), stop.signal);

    stop.abort(new Error("stopping"));
    await expect(waiting).rejects.toThrow("stopping");
    clock.advance(100);
    await new Promise((resolve) => void setImmediate(resolve));

    expect(client.count("updateStatus")).toBe(0);
  });
});
