import { omitZero } from "@flotilla/base";
import { expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { setFinalizer } from "./finalizer.ts";

const Widget = dynamicKind({
  group: "example.dev",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
});
const OURS = "example.dev/ours";
const key = { cluster: "hub", namespace: "shop", name: "a" };
const { signal } = new AbortController();

function setUp(finalizers?: string[]) {
  const client = createFakeClient();
  const create = () =>
    client.create(Widget, "hub", {
      apiVersion: "example.dev/v1",
      kind: "Widget",
      metadata: { name: "a", namespace: "shop", ...omitZero({ finalizers }) },
    });
  const finalizersNow = async () => (await client.get(Widget, key)).metadata.finalizers;
  return { client, create, finalizersNow };
}

test("a finalizer that another controller added concurrently is kept", async () => {
  const { client, create, finalizersNow } = setUp();
  const old = await create();
  await client.patch(Widget, key, { metadata: { finalizers: ["example.dev/theirs"] } }, { type: "merge" });

  await setFinalizer(client, { kind: Widget, key, object: old }, { finalizer: OURS, wanted: true }, signal);

  expect(await finalizersNow()).toEqual(["example.dev/theirs", OURS]);
});

test("removing the last finalizer leaves none", async () => {
  const { client, create, finalizersNow } = setUp([OURS]);
  const object = await create();

  await setFinalizer(client, { kind: Widget, key, object }, { finalizer: OURS, wanted: false }, signal);

  expect(await finalizersNow()).toBeUndefined();
});

test("an already correct finalizer costs no request", async () => {
  const { client, create } = setUp([OURS]);
  const object = await create();

  await setFinalizer(client, { kind: Widget, key, object }, { finalizer: OURS, wanted: true }, signal);

  expect(client.count("patch")).toBe(0);
});

test("an object that is being deleted gets no new finalizer", async () => {
  const { client, create, finalizersNow } = setUp(["example.dev/theirs"]);
  const old = await create();
  await client.delete(Widget, key);

  await setFinalizer(client, { kind: Widget, key, object: old }, { finalizer: OURS, wanted: true }, signal);

  expect(await finalizersNow()).toEqual(["example.dev/theirs"]);
});

test("a new object with the same name is not changed", async () => {
  const { client, create, finalizersNow } = setUp([OURS]);
  const old = await create();
  await client.patch(Widget, key, { metadata: { finalizers: null } }, { type: "merge" });
  await client.delete(Widget, key);
  await create();

  await setFinalizer(client, { kind: Widget, key, object: old }, { finalizer: OURS, wanted: false }, signal);

  expect(await finalizersNow()).toEqual([OURS]);
});

test("a deleted object is not an error", async () => {
  const { client, create } = setUp();
  const old = await create();
  await client.delete(Widget, key);

  await setFinalizer(client, { kind: Widget, key, object: old }, { finalizer: OURS, wanted: true }, signal);

  expect(client.count("get")).toBe(0);
});
