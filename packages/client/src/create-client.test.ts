import { describe, expect, test } from "vitest";
import { dynamicKind } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { Client } from "./client.ts";
import { createClient } from "./create-client.ts";
import type { Transport, TransportRequest, TransportWatchEvent } from "./transport.ts";

const Deployment = dynamicKind({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  scope: "Namespaced",
});
const Node = dynamicKind({ group: "", version: "v1", kind: "Node", plural: "nodes", scope: "Cluster" });
const web = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "shop" } };
const key = { cluster: "hub", namespace: "shop", name: "web" };

/** Answers every request with `answer` and records the requests. */
function makeClient(
  answer: JsonObject = web,
  events: TransportWatchEvent[][] = [],
): { client: Client; sent: (TransportRequest | { watch: unknown })[] } {
  const sent: (TransportRequest | { watch: unknown })[] = [];
  const transport: Transport = {
    async send(request) {
      sent.push(request);
      return answer;
    },
    async *watch(request) {
      sent.push({ watch: request });
      yield* events;
    },
    raw: () => Promise.reject(new Error("not part of this test")),
    close: () => Promise.resolve(),
  };
  return { client: createClient({ transport, fieldManager: "me" }), sent };
}

describe("client requests", () => {
  const path = { cluster: "hub", group: "apps", version: "v1", resource: "deployments", namespace: "shop" };
  const cases: Record<string, { call: (client: Client) => Promise<unknown>; want: TransportRequest }> = {
    "a get requests one object": {
      call: (client) => client.get(Deployment, key),
      want: { verb: "get", path: { ...path, name: "web" }, query: {} },
    },
    "a get may accept any cached version": {
      call: (client) => client.get(Deployment, key, { resourceVersion: "0" }),
      want: { verb: "get", path: { ...path, name: "web" }, query: { resourceVersion: "0" } },
    },
    "a list without a namespace covers all of them": {
      call: (client) =>
        client.list(Deployment, {
          cluster: "hub",
          labelSelector: "app=web",
          fieldSelector: "metadata.name=web",
          limit: 5,
          continue: "abc",
        }),
      want: {
        verb: "list",
        path: { cluster: "hub", group: "apps", version: "v1", resource: "deployments" },
        query: { labelSelector: "app=web", fieldSelector: "metadata.name=web", limit: "5", continue: "abc" },
      },
    },
    "a cluster-scoped kind has no namespace in its path": {
      call: (client) => client.get(Node, { cluster: "hub", namespace: "ignored", name: "n1" }),
      want: {
        verb: "get",
        path: { cluster: "hub", group: "", version: "v1", resource: "nodes", name: "n1" },
        query: {},
      },
    },
    "a create is sent to the collection and names the field manager": {
      call: (client) => client.create(Deployment, "hub", web),
      want: { verb: "create", path, query: { fieldManager: "me" }, body: web },
    },
    "strict field validation sets the fieldValidation parameter": {
      call: (client) => client.update(Deployment, "hub", web, { fieldValidation: "Strict" }),
      want: {
        verb: "update",
        path: { ...path, name: "web" },
        query: { fieldManager: "me", fieldValidation: "Strict" },
        body: web,
      },
    },
    "a dry run sets the dryRun parameter": {
      call: (client) => client.update(Deployment, "hub", web, { dryRun: true }),
      want: { verb: "update", path: { ...path, name: "web" }, query: { fieldManager: "me", dryRun: "All" }, body: web },
    },
    "a status update is sent to the subresource": {
      call: (client) => client.updateStatus(Deployment, "hub", web),
      want: {
        verb: "update",
        path: { ...path, name: "web", subresource: "status" },
        query: { fieldManager: "me" },
        body: web,
      },
    },
    "a patch carries its content type": {
      call: (client) =>
        client.patch(Deployment, key, [{ op: "remove", path: "/spec" }], { type: "json", subresource: "status" }),
      want: {
        verb: "patch",
        path: { ...path, name: "web", subresource: "status" },
        query: { fieldManager: "me" },
        patchType: "json",
        body: [{ op: "remove", path: "/spec" }],
      },
    },
    "an apply may be forced and may name another field manager": {
      call: (client) => client.apply(Deployment, "hub", web, { force: true, fieldManager: "other" }),
      want: {
        verb: "patch",
        path: { ...path, name: "web" },
        query: { fieldManager: "other", force: "true" },
        patchType: "apply",
        body: web,
      },
    },
    "a plain delete has no body": {
      call: (client) => client.delete(Deployment, key),
      want: { verb: "delete", path: { ...path, name: "web" } },
    },
    "delete options are sent in the body": {
      call: (client) =>
        client.delete(Deployment, key, {
          propagationPolicy: "Foreground",
          gracePeriodSeconds: 0,
          preconditions: { uid: "u" },
          dryRun: true,
        }),
      want: {
        verb: "delete",
        path: { ...path, name: "web" },
        body: {
          apiVersion: "v1",
          kind: "DeleteOptions",
          propagationPolicy: "Foreground",
          gracePeriodSeconds: 0,
          preconditions: { uid: "u" },
          dryRun: ["All"],
        },
      },
    },
    "deleteCollection sends its selectors in the query": {
      call: (client) =>
        client.deleteCollection(Deployment, {
          cluster: "hub",
          namespace: "shop",
          labelSelector: "app=web",
          propagationPolicy: "Orphan",
        }),
      want: {
        verb: "deletecollection",
        path,
        query: { labelSelector: "app=web" },
        body: { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Orphan" },
      },
    },
  };
  for (const [behaviour, { call, want }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const { client, sent } = makeClient();

      await call(client);

      expect(sent).toEqual([want]);
    });
  }

  const refused: Record<string, (client: Client) => Promise<unknown>> = {
    "never deletes a collection because a name is empty": (client) => client.delete(Deployment, { ...key, name: "" }),
    "never replaces a collection because a name is empty": (client) =>
      client.update(Deployment, "hub", { ...web, metadata: { name: "", namespace: "shop" } }),
    "never omits the namespace of a namespaced kind": (client) =>
      client.create(Deployment, "hub", { ...web, metadata: { name: "web" } }),
    "never deletes a collection across all namespaces": (client) =>
      client.deleteCollection(Deployment, { cluster: "hub" }),
  };
  for (const [behaviour, call] of Object.entries(refused)) {
    test(behaviour, async () => {
      const { client, sent } = makeClient();

      await expect(call(client)).rejects.toMatchObject({ code: "BadRequest" });

      expect(sent).toEqual([]);
    });
  }
});

describe("client responses", () => {
  test("list items have apiVersion and kind, even when the server omits them", async () => {
    const { client } = makeClient({
      metadata: { resourceVersion: "7", continue: "more", remainingItemCount: 3 },
      items: [{ metadata: { name: "web" } }],
    });

    const list = await client.list(Deployment, { cluster: "hub" });

    expect(list).toEqual({
      resourceVersion: "7",
      continue: "more",
      remainingItemCount: 3,
      items: [{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } }],
    });
  });

  test("an empty list is a list", async () => {
    const { client } = makeClient({ metadata: { resourceVersion: "7" }, items: null });

    expect(await client.list(Deployment, { cluster: "hub" })).toEqual({ resourceVersion: "7", items: [] });
  });

  test("a watch distinguishes bookmarks from changes, marks the end of the initial events, and names the cluster", async () => {
    const object = web as unknown as JsonObject;
    const { client, sent } = makeClient({}, [
      [
        { type: "ADDED", object },
        {
          type: "BOOKMARK",
          object: { metadata: { resourceVersion: "5", annotations: { "k8s.io/initial-events-end": "true" } } },
        },
      ],
      [
        { type: "DELETED", cluster: "paris", object },
        { type: "BOOKMARK", object: { metadata: { resourceVersion: "9" } } },
      ],
    ]);

    const batches = await Array.fromAsync(
      client.watch<KubernetesObject>(Deployment, {
        cluster: "hub",
        sendInitialEvents: true,
        signal: new AbortController().signal,
      }),
    );

    expect(batches).toEqual([
      [
        { type: "ADDED", cluster: "hub", object: web },
        { type: "BOOKMARK", resourceVersion: "5", initialEventsEnd: true },
      ],
      [
        { type: "DELETED", cluster: "paris", object: web },
        { type: "BOOKMARK", resourceVersion: "9", initialEventsEnd: false },
      ],
    ]);
    expect(sent).toEqual([
      {
        watch: {
          path: { cluster: "hub", group: "apps", version: "v1", resource: "deployments" },
          query: { allowWatchBookmarks: "true", sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" },
        },
      },
    ]);
  });
});

describe("a response of a server that is not trusted", () => {
  const broken: Record<string, JsonObject> = {
    "no metadata": { kind: "Deployment" },
    "metadata without a name": { metadata: {} },
    "an object as its namespace": { metadata: { name: "web", namespace: { a: 1 } } },
    "a number as its version": { metadata: { name: "web", resourceVersion: 5 } },
  };
  const calls: Record<string, (client: Client) => Promise<unknown>> = {
    get: (client) => client.get(Deployment, key),
    list: (client) => client.list(Deployment, { cluster: "hub" }),
    create: (client) => client.create(Deployment, "hub", web),
    patch: (client) => client.patch(Deployment, key, {}, { type: "merge" }),
    watch: async (client) => {
      for await (const _ of client.watch(Deployment, { cluster: "hub", signal: new AbortController().signal })) break;
    },
  };
  for (const [what, object] of Object.entries(broken)) {
    test.each(Object.entries(calls))(`with ${what} is an invalid response: %s`, async (_verb, call) => {
      const { client } = makeClient({ ...object, items: [object] }, [[{ type: "ADDED", object }]]);

      await expect(call(client)).rejects.toThrow("cluster hub sent an object of deployments without valid metadata");
    });
  }

  test("may have no metadata for a review, which has no name", async () => {
    const { client } = makeClient({ status: { allowed: true } });
    const review = { ...web, metadata: { name: "", namespace: "shop" } };

    await expect(client.create(Deployment, "hub", review)).resolves.toEqual({ status: { allowed: true } });
  });
});
