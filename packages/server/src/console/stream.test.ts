/** The stream of a page that is hidden, slow, rejected, or whose session ends. */
import { beforeEach, describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { FakeClock, JsonObject } from "@flotilla/base";
import type { FindingsMessage, LogsMessage, ObjectRef } from "@flotilla/web";
import { createTestHub } from "./test-hub.ts";
import type { TestHub } from "./test-hub.ts";
import { makeSession, openTestPage } from "./test-page.ts";
import type { TestPage, TestSession } from "./test-page.ts";
import type { View } from "./viewers.ts";

const REF: ObjectRef = { apiVersion: "v1", kind: "Pod", namespace: "shop", name: "web-1" };
const POD = "/apis/cluster.karmada.io/v1alpha1/clusters/oslo/proxy/api/v1/namespaces/shop/pods/web-1";

interface TestView extends View {
  publish(message: FindingsMessage): void;
  /** Packed changes for all tabs. */
  change(text: string): void;
  state: string;
  readonly listeners: number;
}

function makeView(state: string): TestView {
  const found = new Set<(message: FindingsMessage) => void>();
  const changed = new Set<(change: Uint8Array) => void>();
  const frame = (text: string): Uint8Array => Buffer.concat([Buffer.from([0]), Buffer.from(JSON.stringify({ text }))]);
  const view: TestView = {
    state,
    get listeners() {
      return found.size + changed.size;
    },
    publish: (message) => found.forEach((listener) => listener(message)),
    change: (text) => changed.forEach((listener) => listener(frame(text))),
    findings: {
      current: () => undefined,
      subscribe(listener) {
        found.add(listener);
        return () => void found.delete(listener);
      },
      close: () => {},
    },
    feed: {
      scope: { hidden: [], live: false },
      snapshot: () => frame(`all of ${view.state}`),
      members: () => [],
      workloads: () => [],
      subscribe(listener) {
        changed.add(listener);
        return () => void changed.delete(listener);
      },
      synced: async () => {},
      setProblems: () => {},
      onChange: () => () => {},
      close: () => {},
    },
  };
  return view;
}

let clock: FakeClock;
let hub: TestHub;
let view: TestView;
let made: TestSession;
let page: TestPage;
beforeEach(async () => {
  clock = createFakeClock();
  hub = createTestHub();
  view = makeView("one");
  made = makeSession(hub.client, view);
  page = await openTestPage(made.session, clock);
  return () => page.close();
});

async function pass(ms: number): Promise<void> {
  await hub.settle();
  clock.advance(ms);
  await hub.settle();
}
async function send(...messages: Parameters<TestPage["send"]>[0][]): Promise<void> {
  for (const message of messages) page.send(message);
  await hub.settle();
}
const findings = (at: string): FindingsMessage => ({ findings: [], notChecked: [], at });
const texts = (messages: JsonObject[]): unknown[] => messages.map(({ data }) => (data as { text?: string }).text);

describe("logs", () => {
  const batches = (): LogsMessage[] => page.take().map(({ data }) => data as unknown as LogsMessage);
  const received = (messages: LogsMessage[]): string[] =>
    messages.flatMap(({ lines }) => lines.map(({ text }) => text));
  const write = (text: string, second: number): void =>
    hub.streamOf(`${POD}/log`).write(`2024-05-01T12:00:${String(second).padStart(2, "0")}.000000000Z ${text}\n`);

  beforeEach(async () => {
    hub.answer(POD, { metadata: { name: "web-1" }, spec: { containers: [{ name: "app" }] } });
    hub.stream(`${POD}/log`);
    await send({ type: "subscribe", sub: 1, topic: { name: "logs", ref: REF, members: ["oslo"], tail: 10 } });
    await pass(100);
    page.take();
  });

  test("of a hidden page arrive complete, in one batch per five seconds", async () => {
    await send({ type: "visible", visible: false });

    for (let second = 0; second < 40; second++) {
      write(`line ${second}`, second);
      await pass(100);
    }
    expect(batches()).toEqual([]);
    await pass(1_100);

    const all = batches();
    expect(all).toHaveLength(1);
    expect(received(all)).toEqual(Array.from({ length: 40 }, (_, second) => `line ${second}`));
    expect(all.map(({ lost }) => lost)).toEqual([0]);
  });

  test("of a page that becomes visible arrive at once", async () => {
    await send({ type: "visible", visible: false });
    write("a", 1);
    await pass(100);
    write("b", 2);
    await pass(100);
    expect(batches()).toEqual([]);

    await send({ type: "visible", visible: true });

    expect(received(batches())).toEqual(["a", "b"]);
  });

  test("of a page that does not read are received or counted as lost", async () => {
    const LINES = 6_000;
    page.pause();

    for (let line = 0; line < LINES; line += 400) {
      for (let each = line; each < line + 400; each++) write(`${each} ${"x".repeat(500)}`, 1);
      await pass(100);
    }
    page.resume();
    await pass(100);
    await pass(100);

    const all = batches();
    const lost = all.reduce((sum, batch) => sum + batch.lost, 0);
    expect(lost).toBeGreaterThan(0);
    expect(received(all).length + lost).toBe(LINES);
  });
});

describe("a page", () => {
  test("that is hidden gets the newest message once in five seconds", async () => {
    await send({ type: "subscribe", sub: 1, topic: { name: "findings" } }, { type: "visible", visible: false });

    for (const at of ["1", "2", "3"]) view.publish(findings(at));
    await pass(4_999);
    expect(page.take()).toEqual([]);
    await pass(1);

    expect(page.take()).toEqual([{ sub: 1, data: findings("3") }]);
  });

  test("that does not read gets one snapshot instead of the changes that it missed", async () => {
    await send({ type: "subscribe", sub: 1, topic: { name: "fleet" } });
    expect(texts(page.take())).toEqual(["all of one"]);
    page.pause();

    view.change("x".repeat(1024 * 1024));
    for (let change = 0; change < 50; change++) view.change(`change ${change}`);
    view.state = "two";
    await pass(0);
    page.resume();
    await pass(0);

    expect(texts(page.take()).slice(1)).toEqual(["all of two"]);
  });

  test("has at most 32 subscriptions", async () => {
    const topics = Array.from({ length: 33 }, (_, sub) => ({
      type: "subscribe" as const,
      sub,
      topic: { name: "findings" as const },
    }));

    await send(...topics.slice(0, 32));
    expect(page.isClosed).toBe(false);
    await send(...topics.slice(32));

    expect(page.isClosed).toBe(true);
    expect(view.listeners).toBe(0);
  });

  test("that renews a subscription keeps one", async () => {
    const again = { type: "subscribe" as const, sub: 1, topic: { name: "findings" as const } };

    await send(...Array.from({ length: 40 }, () => again));

    expect(page.isClosed).toBe(false);
    expect(view.listeners).toBe(1);
  });

  const invalid: Record<string, unknown> = {
    "a text": "hello",
    "a subscription without a number": { type: "subscribe", sub: "1", topic: { name: "fleet" } },
    "a subscription without a topic": { type: "subscribe", sub: 1, topic: null },
    "an unknown message": { type: "shout" },
  };
  for (const [what, message] of Object.entries(invalid)) {
    test(`that sends ${what} is closed`, async () => {
      await send(message as Parameters<TestPage["send"]>[0]);

      expect(page.isClosed).toBe(true);
    });
  }

  test("receives the reason why a topic has failed, and keeps its other topics", async () => {
    await send(
      { type: "subscribe", sub: 1, topic: { name: "findings" } },
      { type: "subscribe", sub: 2, topic: { name: "object", ref: { ...REF, name: "" } } },
    );

    expect(page.take()).toEqual([{ sub: 2, error: "an object has an apiVersion, a kind and a name" }]);
    expect(view.listeners).toBe(1);
  });

  test("that is closed leaves nothing behind", async () => {
    await send(
      { type: "subscribe", sub: 1, topic: { name: "findings" } },
      { type: "subscribe", sub: 2, topic: { name: "fleet" } },
    );
    expect([view.listeners, made.joined()]).toEqual([2, 1]);

    page.close();
    await pass(1_000);

    expect([view.listeners, made.joined(), page.isForgotten]).toEqual([0, 0, true]);
    expect(clock.nextDue()).toBeUndefined();
  });
});

test("a viewer whose rights change gets everything again, from what may be seen now", async () => {
  await send({ type: "subscribe", sub: 1, topic: { name: "fleet" } });
  page.take();
  const less = makeView("less");

  made.changeRights(less);
  await pass(0);
  view.change("no longer for this viewer");
  less.change("for this viewer");
  await pass(0);

  expect(texts(page.take())).toEqual(["all of less", "for this viewer"]);
  expect([view.listeners, less.listeners, made.joined()]).toEqual([0, 1, 1]);
});

test("a session that ends closes its pages, with the reason", async () => {
  await send({ type: "subscribe", sub: 1, topic: { name: "findings" } });

  made.end("you signed out");
  await pass(1_000);
  view.publish(findings("too late"));

  expect(page.take()).toEqual([{ end: "you signed out" }]);
  expect([page.isClosed, view.listeners, made.joined()]).toEqual([true, 0, 0]);
});
