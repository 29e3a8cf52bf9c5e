import { expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import { createInformerBudget, sizeOf } from "./informer-budget.ts";
import { createInformers } from "./informers.ts";

const Widget = dynamicKind({
  group: "example.dev",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
});

const makeWidget = (name: string, text = "") => ({
  apiVersion: "example.dev/v1",
  kind: "Widget",
  metadata: { name, namespace: "shop" },
  spec: { text },
});

function setUp(limits: { objects?: number; bytes?: number }) {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  const exceeded: string[] = [];
  const budget = createInformerBudget({ objects: 100, bytes: 1_000_000, ...limits }, ({ message }) =>
    exceeded.push(message),
  );
  const informers = createInformers({
    client,
    clock,
    log: silentLog,
    scope: { cluster: "hub" },
    random: createSeededRandom(1),
    budget,
  });
  const settle = () => reconcileUntilQuiet({ managers: [informers], server: client });
  const create = async (...names: string[]): Promise<void> => {
    for (const name of names) await client.create(Widget, "hub", makeWidget(name));
  };
  const remove = async (...names: string[]): Promise<void> => {
    for (const name of names) await client.delete(Widget, { cluster: "hub", namespace: "shop", name });
  };
  const wait = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await settle();
  };
  const names = (): string[] =>
    informers
      .of(Widget)
      .list()
      .map(({ metadata }) => metadata.name)
      .sort();
  return { client, budget, exceeded, informers, settle, create, remove, wait, names };
}

test("objects and bytes are counted as they are added, changed and deleted", async () => {
  const { client, budget, informers, settle, create, remove } = setUp({});
  await create("a", "b");
  informers.of(Widget);
  await settle();
  const two = { ...budget.held };
  const b = await client.get(Widget, { cluster: "hub", namespace: "shop", name: "b" });
  await client.update(Widget, "hub", { ...b, spec: { text: "x".repeat(1000) } });
  await settle();
  const larger = { ...budget.held };
  await remove("a", "b");
  await settle();

  expect(two.objects).toBe(2);
  expect(larger).toEqual({ objects: 2, bytes: two.bytes + 1000 });
  expect(budget.held).toEqual({ objects: 0, bytes: 0 });
});

test("a watch that exceeds the budget ends; what was known stays, and is current again when objects are deleted", async () => {
  const { exceeded, budget, informers, settle, create, remove, wait, names } = setUp({ objects: 3 });
  await create("a", "b");
  informers.of(Widget);
  await settle();
  await create("c", "d", "e");
  await settle();
  const during = names();
  await wait(60_000);
  const still = names();
  await remove("a", "b", "c");
  await wait(60_000);

  expect(during).toEqual(["a", "b", "c"]);
  expect(still).toEqual(["a", "b", "c"]);
  expect(exceeded[0]).toBe("its watched objects are more than 3 objects together (the last: widgets)");
  expect(names()).toEqual(["d", "e"]);
  expect(budget.held.objects).toBe(2);
});

test("a first list that exceeds the budget leaves nothing behind, and is complete when it fits", async () => {
  const { budget, informers, settle, create, remove, wait } = setUp({ objects: 3 });
  await create("a", "b", "c", "d", "e", "f", "g", "h");
  const informer = informers.of(Widget);
  await settle();
  const during = { synced: informer.synced, held: budget.held.objects };
  await remove("a", "b", "c", "d", "e");
  await wait(60_000);

  expect(during).toEqual({ synced: false, held: 0 });
  expect(informer.synced).toBe(true);
  expect(budget.held.objects).toBe(3);
});

test("a list that replaces all objects by others may hold both until it is complete", async () => {
  const { client, exceeded, informers, settle, create, remove, wait, names } = setUp({ objects: 3 });
  await create("a", "b", "c");
  informers.of(Widget);
  await settle();
  client.disconnect();
  await remove("a", "b", "c");
  await create("d", "e", "f");
  client.compact();
  await wait(60_000);

  expect(names()).toEqual(["d", "e", "f"]);
  expect(exceeded).toEqual([]);
});

test("what is held is bounded while a server sends other objects in each list and breaks the connection", async () => {
  const { client, budget, informers, settle, create, remove, wait, names } = setUp({ objects: 3 });
  await create("a");
  informers.of(Widget);
  await settle();
  let most = 0;
  for (let round = 0; round < 10; round++) {
    const others = [1, 2, 3, 4, 5].map((place) => `r${round}-${place}`);
    client.disconnect();
    client.compact();
    await create(...others);
    await wait(60_000);
    most = Math.max(most, budget.held.objects);
    await remove(...others);
  }
  await wait(60_000);

  expect(most).toBeLessThanOrEqual(6);
  expect(names()).toEqual(["a"]);
});

test("informers of one budget share it", async () => {
  const { exceeded, informers, settle, client, create } = setUp({ bytes: 3000 });
  const Gadget = dynamicKind({
    group: "example.dev",
    version: "v1",
    kind: "Gadget",
    plural: "gadgets",
    scope: "Namespaced",
  });
  await create("a");
  informers.of(Widget);
  informers.of(Gadget);
  await settle();
  await client.create(Gadget, "hub", { ...makeWidget("g", "x".repeat(2500)), kind: "Gadget" });
  await settle();

  expect(exceeded[0]).toBe("its watched objects are more than 3000 bytes of objects together (the last: gadgets)");
});

test("the size of an object grows with its values, not only with its text", () => {
  expect(sizeOf({ a: "xxxx" })).toBe(16 + 16 + 1 + 16 + 4);
  expect(sizeOf({ a: Array.from({ length: 1000 }, () => ({})) })).toBeGreaterThan(16_000);
  expect(sizeOf({ a: undefined })).toBe(16);
});
