import { expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { createClient } from "./create-client.ts";
import { createServedVersionsClient } from "./served-versions.ts";
import type { Transport, TransportRequest } from "./transport.ts";

type Box = KubernetesObject & { spec: { size?: number; length?: number } };

/** Stored as v2, where the size field has another name than in v1. */
const BoxKind: Kind<Box> = {
  ...dynamicKind({ group: "example.dev", version: "v2", kind: "Box", plural: "boxes", scope: "Namespaced" }),
  versions: {
    v1: {
      schema: {},
      columns: [],
      toStorage: (box: JsonObject) => renamed(box, "length", "size"),
      fromStorage: (box: JsonObject) => renamed(box, "size", "length"),
    },
    v2: { schema: {}, columns: [] },
  },
} as unknown as Kind<Box>;

function renamed(box: JsonObject, from: string, to: string): JsonObject {
  const spec = box["spec"] as JsonObject;
  return { ...box, spec: { [to]: spec[from] ?? null } };
}

/** Answers every request with one box in this version, and serves only that version. */
function startServer(version: "v1" | "v2" | undefined) {
  const requests: TransportRequest[] = [];
  let serving = version;
  const box: JsonObject = {
    apiVersion: `example.dev/${version}`,
    kind: "Box",
    metadata: { name: "a", namespace: "shop" },
    spec: version === "v1" ? { length: 3 } : { size: 3 },
  };
  const transport: Transport = {
    async send(request) {
      requests.push(request);
      return request.verb === "list" ? { metadata: { resourceVersion: "1" }, items: [box] } : box;
    },
    async *watch({ path }) {
      requests.push({ verb: "get", path });
      yield [{ type: "ADDED", cluster: "paris", object: box }] as never;
    },
    async raw({ path }) {
      const isServed = path === `/apis/example.dev/${serving}`;
      const body = JSON.stringify(isServed ? { resources: [{ name: "boxes", kind: "Box", namespaced: true }] } : {});
      return {
        status: isServed ? 200 : 404,
        headers: {},
        body: (async function* bytes() {
          yield new TextEncoder().encode(body);
        })(),
      };
    },
    close: async () => {},
  };
  return {
    client: createServedVersionsClient(createClient({ transport, fieldManager: "test" })),
    requests,
    serve: (now: "v1" | "v2") => (serving = now),
  };
}

const key = { cluster: "paris", namespace: "shop", name: "a" };

test("a kind that is served in another version is requested in that version and converted to ours", async () => {
  const { client, requests } = startServer("v1");

  const got = await client.get(BoxKind, key);
  const { items } = await client.list(BoxKind, { cluster: "paris" });
  const [events] = await Array.fromAsync(
    client.watch(BoxKind, { cluster: "paris", signal: new AbortController().signal }),
  );

  expect(requests.map(({ path }) => path.version)).toEqual(["v1", "v1", "v1"]);
  for (const box of [got, items[0], events?.[0]?.type === "ADDED" ? events[0].object : undefined])
    expect(box).toMatchObject({ apiVersion: "example.dev/v2", spec: { size: 3 } });
});

test("writes are converted to the server's version", async () => {
  const { client, requests } = startServer("v1");

  await client.update(BoxKind, "paris", {
    apiVersion: "example.dev/v2",
    kind: "Box",
    metadata: { name: "a", namespace: "shop" },
    spec: { size: 5 },
  });

  expect(requests[0]?.body).toEqual({
    apiVersion: "example.dev/v1",
    kind: "Box",
    metadata: { name: "a", namespace: "shop" },
    spec: { length: 5 },
  });
});

test("an owner reference uses a version that the server has", async () => {
  const { client, requests } = startServer("v1");
  await client.get(BoxKind, key);

  const owner = { apiVersion: "example.dev/v2", kind: "Box", name: "a", uid: "1" };
  await client.create(
    dynamicKind({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope: "Namespaced" }),
    "paris",
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b", namespace: "shop", ownerReferences: [owner] } },
  );

  expect(requests[1]?.body).toMatchObject({
    metadata: { ownerReferences: [{ ...owner, apiVersion: "example.dev/v1" }] },
  });
});

test("a server that has our version is requested without conversion", async () => {
  const { client, requests } = startServer("v2");

  await client.get(BoxKind, key);
  await client.patch(BoxKind, key, { spec: { size: 4 } }, { type: "merge" });

  expect(requests.map(({ path }) => path.version)).toEqual(["v2", "v2"]);
});

test("a patch of a converted kind beyond metadata is rejected", async () => {
  const { client } = startServer("v1");

  await expect(client.patch(BoxKind, key, { spec: { size: 4 } }, { type: "merge" })).rejects.toThrow(
    "only metadata patches are the same in every version",
  );
});

test("a CRD that is created later is detected", async () => {
  const { client, requests, serve } = startServer(undefined);

  await client.get(BoxKind, key);
  serve("v1");
  await client.get(BoxKind, key);

  expect(requests.map(({ path }) => path.version)).toEqual(["v2", "v1"]);
});
