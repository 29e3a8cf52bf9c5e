import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { answeredElsewhere, notFound } from "@flotilla/apimachinery";
import { applyAll, tryAll } from "./apply-input.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const CONFIG_MAP = { data: { b: "2" }, kind: "ConfigMap", apiVersion: "v1", metadata: { name: "c" } };
const MEMORY =
  '{"apiVersion":"v1","data":{"b":"2"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"c","namespace":"shop"}}\n';

/** A fake hub that has this object, or none, and records the writes. */
function hubWith(existing?: JsonObject): {
  client: Client;
  writes: { verb: string; body: JsonObject; options: JsonObject }[];
} {
  const writes: { verb: string; body: JsonObject; options: JsonObject }[] = [];
  const written = (verb: string, body: JsonObject, options: JsonObject): Promise<unknown> => {
    writes.push({ verb, body, options });
    return Promise.resolve({ ...body, metadata: { ...(body["metadata"] as JsonObject), resourceVersion: "2" } });
  };
  const client = {
    raw: () =>
      Promise.resolve({
        status: 200,
        headers: {},
        body: [
          Buffer.from(JSON.stringify({ resources: [{ name: "configmaps", kind: "ConfigMap", namespaced: true }] })),
        ],
      }),
    get: () =>
      existing ? Promise.resolve(existing) : Promise.reject(notFound({ group: "", resource: "configmaps" }, "c")),
    create: (_kind: unknown, _cluster: string, body: JsonObject, options: JsonObject) =>
      written("create", body, options),
    patch: (_kind: unknown, _key: unknown, body: JsonObject, options: JsonObject) => written("patch", body, options),
    apply: (_kind: unknown, _cluster: string, body: JsonObject, options: JsonObject) => written("apply", body, options),
  } as unknown as Client;
  return { client, writes };
}

const { signal } = new AbortController();
const apply = (client: Client, manifest: JsonObject) =>
  applyAll(client, { manifests: [manifest], namespace: "shop" }, { signal });

test("a new object is created with kubectl's last-applied annotation, byte for byte", async () => {
  const { client, writes } = hubWith();

  const [applied] = await apply(client, CONFIG_MAP);

  expect(applied?.outcome).toBe("created");
  expect(writes).toMatchObject([
    {
      verb: "create",
      options: { fieldManager: "kubectl-client-side-apply" },
      body: { metadata: { namespace: "shop", annotations: { [LAST_APPLIED]: MEMORY } } },
    },
  ]);
});

test("an object that was applied before loses only the fields that the manifest dropped", async () => {
  const last = JSON.stringify({ data: { a: "1", b: "1" }, metadata: { annotations: {}, labels: { x: "y" } } });
  const { client, writes } = hubWith({
    metadata: { name: "c", resourceVersion: "1", annotations: { [LAST_APPLIED]: last } },
    data: { a: "1", b: "1", theirs: "z" },
  });

  const [applied] = await apply(client, CONFIG_MAP);

  expect(applied?.outcome).toBe("changed");
  expect(writes).toMatchObject([
    {
      verb: "patch",
      options: { type: "strategic" },
      body: { data: { a: null, b: "2" }, metadata: { labels: null, annotations: { [LAST_APPLIED]: MEMORY } } },
    },
  ]);
});

test("an object that was not created by apply is applied server-side, and a concurrent status update is not a change", async () => {
  const { client, writes } = hubWith({
    ...CONFIG_MAP,
    metadata: { name: "c", namespace: "shop", resourceVersion: "1" },
    status: { seen: true },
  });

  const [applied] = await apply(client, CONFIG_MAP);

  expect(applied?.outcome).toBe("unchanged");
  expect(writes).toMatchObject([{ verb: "apply", options: { force: true, fieldManager: "kubectl" } }]);
});

test("a manifest too large for the last-applied annotation is applied server-side", async () => {
  const { client, writes } = hubWith();

  await apply(client, { ...CONFIG_MAP, data: { big: "x".repeat(300_000) } });

  expect(writes.map(({ verb }) => verb)).toEqual(["apply"]);
});

test("a custom object that was applied before gets a merge patch", async () => {
  const custom = { apiVersion: "example.com/v1", kind: "ConfigMap", metadata: { name: "c" }, data: ["a"] };
  const { client, writes } = hubWith({ ...custom, metadata: { name: "c", annotations: { [LAST_APPLIED]: "{}" } } });

  await apply(client, { ...custom, data: ["b"] });

  expect(writes).toMatchObject([{ verb: "patch", options: { type: "merge" }, body: { data: ["b"] } }]);
});

test("a last-applied annotation with the same content is kept, whatever its escapes", async () => {
  const last = MEMORY.replace('"b":"2"', '"b":"\\u0032"');
  const { client, writes } = hubWith({
    ...CONFIG_MAP,
    metadata: { name: "c", namespace: "shop", annotations: { [LAST_APPLIED]: last } },
  });

  await apply(client, CONFIG_MAP);

  expect(writes.map(({ verb, body }) => ({ verb, body }))).toEqual([{ verb: "patch", body: {} }]);
});

test("a dry run makes the same writes as an apply", async () => {
  for (const existing of [
    undefined,
    { ...CONFIG_MAP, metadata: { name: "c", annotations: { [LAST_APPLIED]: "{}" } } },
  ]) {
    const [tried, applied] = [hubWith(existing), hubWith(existing)];

    await tryAll(tried.client, tried.client, { manifests: [CONFIG_MAP], namespace: "shop" }, signal);
    await apply(applied.client, CONFIG_MAP);

    expect(tried.writes).toEqual(applied.writes);
  }
});

test("a manifest that an aggregated server answers for is not tried, and the others are", async () => {
  const { client } = hubWith();
  const get = (_kind: unknown, { name }: { name: string }) =>
    Promise.reject(
      name === "c" ? notFound({ group: "", resource: "configmaps" }, "c") : answeredElsewhere("another server answers"),
    );
  const foreign = { ...CONFIG_MAP, metadata: { name: "foreign" } };

  const { applied, unknown } = await tryAll(
    client,
    { ...client, get },
    { manifests: [foreign, CONFIG_MAP], namespace: "shop" },
    signal,
  );

  expect([applied, unknown].map((list) => list.length)).toEqual([1, 1]);
  expect(applied[0]?.object.metadata.name).toBe("c");
  expect(unknown[0]?.metadata).toEqual({ name: "foreign", namespace: "shop" });
});
