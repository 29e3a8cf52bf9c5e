import { describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { timedOut } from "@flotilla/apimachinery";
import { createMemoryEngine } from "../store/memory-engine.ts";
import type { Engine } from "../store/engine.ts";
import { ADMIN, MERGE, createTestServer, makeConfigMap } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";

/** An engine that records its maximum number of concurrent writes. */
function countingEngine(): { engine: Engine; most(): number } {
  const memory = createMemoryEngine();
  let running = 0;
  let most = 0;
  const commit: Engine["commit"] = async (write) => {
    most = Math.max(most, ++running);
    try {
      return await memory.commit(write);
    } finally {
      running--;
    }
  };
  return { engine: { ...memory, commit }, most: () => most };
}

const statusOf = async ({ request }: TestServer, path: string): Promise<number> => (await request("GET", path)).status;

describe("delete options", () => {
  const failures: Record<string, { body?: unknown; query?: string; want: [number, string] }> = {
    "must have a known propagation policy": {
      body: { propagationPolicy: "Nope" },
      want: [
        422,
        'propagationPolicy: Unsupported value: "Nope": supported values: "Foreground", "Background", "Orphan", "nil"',
      ],
    },
    "must not set propagationPolicy and orphanDependents together": {
      body: { propagationPolicy: "Orphan", orphanDependents: true },
      want: [422, "orphanDependents and deletionPropagation cannot be both set"],
    },
    "must have a valid dryRun": {
      query: "?dryRun=Nope",
      want: [422, 'dryRun: Unsupported value: ["Nope"]: supported values: "All"'],
    },
    "must have a numeric gracePeriodSeconds": {
      body: { gracePeriodSeconds: "x" },
      want: [400, "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64"],
    },
    "must be of kind DeleteOptions": {
      body: { apiVersion: "v1", kind: "ConfigMap" },
      want: [400, 'no kind "ConfigMap" is registered for version "v1"'],
    },
    "must be JSON": {
      body: "{",
      want: [400, "couldn't get version/kind; json parse error: unexpected end of JSON input"],
    },
    "must be an object": { body: [], want: [400, "json: cannot unmarshal array into Go value"] },
  };
  for (const [behaviour, { body, query = "", want }] of Object.entries(failures)) {
    test(behaviour, async () => {
      const { request } = await createTestServer();
      await request("POST", CONFIG_MAPS, makeConfigMap("m"));

      const answer = await request("DELETE", `${CONFIG_MAPS}/m${query}`, body);

      expect([answer.status, answer.body.message]).toEqual([want[0], expect.stringContaining(want[1])]);
    });
  }

  test("delete options in the body override those in the query", async () => {
    const server = await createTestServer();
    await server.request("POST", CONFIG_MAPS, makeConfigMap("m"));

    await server.request("DELETE", `${CONFIG_MAPS}/m?dryRun=All`, { kind: "DeleteOptions" });

    expect(await statusOf(server, `${CONFIG_MAPS}/m`)).toBe(404);
  });

  test("delete options with orphanDependents return 202 while a finalizer holds the object", async () => {
    const { request } = await createTestServer();
    await request("POST", CONFIG_MAPS, makeConfigMap("m", { metadata: { finalizers: ["example.com/a"] } }));

    const { status } = await request("DELETE", `${CONFIG_MAPS}/m`, { orphanDependents: false });

    expect(status).toBe(202);
  });
});

describe("deleting", () => {
  test("removes the object and reports success", async () => {
    const server = await createTestServer();
    const { body: created } = await server.request("POST", CONFIG_MAPS, makeConfigMap("m"));

    const { status, body } = await server.request("DELETE", `${CONFIG_MAPS}/m`);

    expect(status).toBe(200);
    expect(body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "m", kind: "configmaps", uid: (created.metadata as JsonObject).uid },
    });
    expect(await statusOf(server, `${CONFIG_MAPS}/m`)).toBe(404);
  });

  test("waits for finalizers, and rejects new ones", async () => {
    const server = await createTestServer();
    await server.request("POST", CONFIG_MAPS, makeConfigMap("m", { metadata: { finalizers: ["example.com/a"] } }));

    const marked = await server.request("DELETE", `${CONFIG_MAPS}/m`);
    const again = await server.request("DELETE", `${CONFIG_MAPS}/m`);
    const added = await server.request(
      "PATCH",
      `${CONFIG_MAPS}/m`,
      { metadata: { finalizers: ["example.com/a", "example.com/b"] } },
      MERGE,
    );
    const released = await server.request("PATCH", `${CONFIG_MAPS}/m`, { metadata: { finalizers: null } }, MERGE);

    expect(marked.body).toMatchObject({
      metadata: { deletionTimestamp: "2024-05-01T12:00:00Z", deletionGracePeriodSeconds: 0 },
    });
    expect(again.body).toEqual(marked.body);
    expect(added.body.message).toContain(
      'no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/b"}',
    );
    expect(released.status).toBe(200);
    expect(await statusOf(server, `${CONFIG_MAPS}/m`)).toBe(404);
  });

  test("is rejected when a precondition does not hold", async () => {
    const server = await createTestServer();
    await server.request("POST", CONFIG_MAPS, makeConfigMap("m"));

    const wrongUid = await server.request("DELETE", `${CONFIG_MAPS}/m`, { preconditions: { uid: "other" } });
    const wrongVersion = await server.request("DELETE", `${CONFIG_MAPS}/m`, {
      preconditions: { resourceVersion: "1" },
    });

    expect([wrongUid.status, wrongVersion.status]).toEqual([409, 409]);
  });

  test("deleting a running pod waits for its kubelet", async () => {
    const server = await createTestServer();
    const pod = (name: string, spec: JsonObject): JsonObject => ({
      metadata: { name },
      spec: { containers: [{ name: "c", image: "i" }], ...spec },
    });
    await server.request("POST", PODS, pod("running", { nodeName: "n" }));
    await server.request("POST", PODS, pod("waiting", {}));

    const running = await server.request("DELETE", `${PODS}/running`);
    await server.request("DELETE", `${PODS}/waiting`);
    const stillThere = await statusOf(server, `${PODS}/running`);
    await server.request("DELETE", `${PODS}/running?gracePeriodSeconds=0`);

    expect(running.body).toMatchObject({
      metadata: { deletionTimestamp: "2024-05-01T12:00:30Z", deletionGracePeriodSeconds: 30 },
    });
    expect([stillThere, await statusOf(server, `${PODS}/running`), await statusOf(server, `${PODS}/waiting`)]).toEqual([
      200, 404, 404,
    ]);
  });

  test("deleting a collection deletes what the selector matches", async () => {
    const server = await createTestServer();
    for (const name of ["a", "b"])
      await server.request(
        "POST",
        CONFIG_MAPS,
        makeConfigMap(name, { metadata: { labels: { go: name === "a" ? "yes" : "no" } } }),
      );

    const { body } = await server.request("DELETE", `${CONFIG_MAPS}?labelSelector=go%3Dyes`);

    expect(body.items).toHaveLength(1);
    expect([await statusOf(server, `${CONFIG_MAPS}/a`), await statusOf(server, `${CONFIG_MAPS}/b`)]).toEqual([
      404, 200,
    ]);
  });

  test("deleting a collection commits many writes together, and responds in the order of the list", async () => {
    const { engine, most } = countingEngine();
    const server = await createTestServer({ engine });
    const names = Array.from({ length: 20 }, (_, index) => `m-${index + 10}`);
    for (const name of names) await server.request("POST", CONFIG_MAPS, makeConfigMap(name));

    const { body } = await server.request("DELETE", CONFIG_MAPS);

    expect((body.items as JsonObject[]).map(({ metadata }) => (metadata as JsonObject).name)).toEqual(names);
    expect(most()).toBe(16);
  });

  test("deleting a collection stops when the client disconnects", async () => {
    const server = await createTestServer();
    for (let index = 0; index < 40; index++) await server.request("POST", CONFIG_MAPS, makeConfigMap(`m-${index}`));
    const abort = new AbortController();

    const answer = server.server.handle({
      method: "DELETE",
      path: CONFIG_MAPS,
      query: new URLSearchParams(),
      headers: {},
      body: new Uint8Array(),
      user: ADMIN,
      signal: abort.signal,
    });
    abort.abort(timedOut("the peer went away"));

    expect((await answer).status).toBe(504);
    expect(((await server.request("GET", CONFIG_MAPS)).body.items as JsonObject[]).length).toBeGreaterThanOrEqual(24);
  });

  test("deleting a namespace commits many writes together", async () => {
    const { engine, most } = countingEngine();
    const server = await createTestServer({ engine });
    await server.request("POST", "/api/v1/namespaces", { metadata: { name: "full" } });
    for (let index = 0; index < 20; index++)
      await server.request("POST", "/api/v1/namespaces/full/configmaps", makeConfigMap(`m-${index}`));

    await server.request("DELETE", "/api/v1/namespaces/full");
    await server.settle();

    expect(await statusOf(server, "/api/v1/namespaces/full")).toBe(404);
    expect(most()).toBe(16);
  });

  test("deleting as a dry run deletes nothing", async () => {
    const server = await createTestServer();
    await server.request("POST", CONFIG_MAPS, makeConfigMap("m"));

    const { body } = await server.request("DELETE", `${CONFIG_MAPS}/m?dryRun=All`);

    expect(body.status).toBe("Success");
    expect(await statusOf(server, `${CONFIG_MAPS}/m`)).toBe(200);
  });
});

describe("dependents", () => {
  async function family(block = false): Promise<TestServer & { owner: JsonObject }> {
    const server = await createTestServer();
    const { body: owner } = await server.request("POST", CONFIG_MAPS, makeConfigMap("owner"));
    const ownerReferences = [
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        name: "owner",
        uid: (owner.metadata as JsonObject).uid ?? "",
        blockOwnerDeletion: block,
      },
    ];
    await server.request("POST", CONFIG_MAPS, makeConfigMap("child", { metadata: { ownerReferences } }));
    return { ...server, owner };
  }

  test("are deleted after their owner", async () => {
    const server = await family();

    await server.request("DELETE", `${CONFIG_MAPS}/owner`);
    await server.settle();

    expect(await statusOf(server, `${CONFIG_MAPS}/child`)).toBe(404);
  });

  test("are deleted before their owner in the foreground", async () => {
    const server = await family(true);
    await server.request("PATCH", `${CONFIG_MAPS}/child`, { metadata: { finalizers: ["example.com/hold"] } }, MERGE);

    await server.request("DELETE", `${CONFIG_MAPS}/owner`, { propagationPolicy: "Foreground" });
    await server.settle();
    const held = await server.request("GET", `${CONFIG_MAPS}/owner`);
    await server.request("PATCH", `${CONFIG_MAPS}/child`, { metadata: { finalizers: null } }, MERGE);
    await server.settle();

    expect(held.body).toMatchObject({
      metadata: { finalizers: ["foregroundDeletion"], deletionTimestamp: expect.anything() },
    });
    expect([await statusOf(server, `${CONFIG_MAPS}/owner`), await statusOf(server, `${CONFIG_MAPS}/child`)]).toEqual([
      404, 404,
    ]);
  });

  test("are kept without their owner reference when they are orphaned", async () => {
    const server = await family();

    await server.request("DELETE", `${CONFIG_MAPS}/owner`, { propagationPolicy: "Orphan" });
    await server.settle();
    const { status, body } = await server.request("GET", `${CONFIG_MAPS}/child`);

    expect(await statusOf(server, `${CONFIG_MAPS}/owner`)).toBe(404);
    expect([status, body.metadata]).toEqual([200, expect.not.objectContaining({ ownerReferences: expect.anything() })]);
  });

  test("are kept while another owner exists", async () => {
    const server = await family();
    const { body: second } = await server.request("POST", CONFIG_MAPS, makeConfigMap("second"));
    const references = [server.owner, second].map(({ metadata }) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      name: (metadata as JsonObject).name,
      uid: (metadata as JsonObject).uid,
    }));
    await server.request("PATCH", `${CONFIG_MAPS}/child`, { metadata: { ownerReferences: references } }, MERGE);

    await server.request("DELETE", `${CONFIG_MAPS}/owner`);
    await server.settle();
    const { body } = await server.request("GET", `${CONFIG_MAPS}/child`);

    expect(((body.metadata as JsonObject).ownerReferences as JsonObject[]).map(({ name }) => name)).toEqual(["second"]);
  });

  test("dependents that own each other are deleted together", async () => {
    const server = await family(true);
    const { body: child } = await server.request("GET", `${CONFIG_MAPS}/child`);
    const back = [
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        name: "child",
        uid: (child.metadata as JsonObject).uid,
        blockOwnerDeletion: true,
      },
    ];
    await server.request("PATCH", `${CONFIG_MAPS}/owner`, { metadata: { ownerReferences: back } }, MERGE);

    await server.request("DELETE", `${CONFIG_MAPS}/owner`, { propagationPolicy: "Foreground" });
    await server.settle();

    expect([await statusOf(server, `${CONFIG_MAPS}/owner`), await statusOf(server, `${CONFIG_MAPS}/child`)]).toEqual([
      404, 404,
    ]);
  });

  test("dependents of an owner that waits for them are kept by another owner", async () => {
    const server = await family(true);
    const { body: second } = await server.request("POST", CONFIG_MAPS, makeConfigMap("second"));
    const references = [server.owner, second].map(({ metadata }) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      name: (metadata as JsonObject).name,
      uid: (metadata as JsonObject).uid,
      blockOwnerDeletion: true,
    }));
    await server.request("PATCH", `${CONFIG_MAPS}/child`, { metadata: { ownerReferences: references } }, MERGE);

    await server.request("DELETE", `${CONFIG_MAPS}/owner`, { propagationPolicy: "Foreground" });
    await server.settle();
    const { body } = await server.request("GET", `${CONFIG_MAPS}/child`);

    expect(await statusOf(server, `${CONFIG_MAPS}/owner`)).toBe(404);
    expect(((body.metadata as JsonObject).ownerReferences as JsonObject[]).map(({ name }) => name)).toEqual(["second"]);
  });

  test("dependents of a nonexistent owner are collected", async () => {
    const server = await createTestServer();
    const ownerReferences = [
      { apiVersion: "v1", kind: "ConfigMap", name: "ghost", uid: "11111111-2222-3333-4444-555555555555" },
    ];

    await server.request("POST", CONFIG_MAPS, makeConfigMap("child", { metadata: { ownerReferences } }));
    await server.settle();

    expect(await statusOf(server, `${CONFIG_MAPS}/child`)).toBe(404);
  });
});

describe("namespaces", () => {
  test("are deleted with their content, and wait for finalizers", async () => {
    const server = await createTestServer();
    await server.request("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
    const path = "/api/v1/namespaces/shop/configmaps";
    await server.request("POST", path, makeConfigMap("held", { metadata: { finalizers: ["example.com/hold"] } }));
    await server.request("POST", path, makeConfigMap("free"));

    await server.request("DELETE", "/api/v1/namespaces/shop");
    await server.settle();
    const waiting = await server.request("GET", "/api/v1/namespaces/shop");
    const refused = await server.request("POST", path, makeConfigMap("late"));
    await server.request("PATCH", `${path}/held`, { metadata: { finalizers: null } }, MERGE);
    await server.settle();

    expect(waiting.body).toMatchObject({
      status: {
        phase: "Terminating",
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: "NamespaceContentRemaining", status: "True" }),
        ]),
      },
    });
    expect(refused.body).toMatchObject({ code: 403, details: { causes: [{ reason: "NamespaceTerminating" }] } });
    expect(await statusOf(server, "/api/v1/namespaces/shop")).toBe(404);
    expect(server.cache.list("/core/configmaps/hub/shop/")).toEqual([]);
  });

  test("namespaces that are protected cannot be deleted", async () => {
    const { request } = await createTestServer();

    expect((await request("DELETE", "/api/v1/namespaces/default")).body.message).toBe(
      'namespaces "default" is forbidden: this namespace may not be deleted',
    );
  });
});
