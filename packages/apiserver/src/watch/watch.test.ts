import { describe, expect, test } from "vitest";
import { required } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { TransportWatchEvent } from "@flotilla/client";
import type { ByteStream } from "../request/request.ts";
import { MERGE, PROFILE, createTestServer, makeConfigMap, makeDefinition } from "../test-server.ts";
import type { TestServer } from "../test-server.ts";
import { textOf } from "../codec/text.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

interface Stream {
  readonly chunks: readonly Uint8Array[];
  events(): { type: string; object: JsonObject }[];
  readonly ended: boolean;
  accept: boolean;
  drain(): void;
  close(): void;
}

async function watch({ request }: TestServer, query: string, headers?: Record<string, string>): Promise<Stream> {
  const { response } = await request("GET", `${CONFIG_MAPS}?watch=1&${query}`, undefined, headers);
  const chunks: Uint8Array[] = [];
  let ended = false;
  let resume = (): void => {};
  const stream: Stream = {
    chunks,
    accept: true,
    events: () =>
      Buffer.concat(chunks)
        .toString()
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { type: string; object: JsonObject }),
    get ended() {
      return ended;
    },
    drain: () => resume(),
    close: () => stop(),
  };
  const stop = (response.body as ByteStream).open({
    write(chunk) {
      chunks.push(chunk);
      return stream.accept;
    },
    onDrain(run) {
      resume = run;
    },
    end() {
      ended = true;
    },
  });
  return stream;
}

const typesOf = (stream: Stream): string[] =>
  stream.events().map(({ type, object }) => `${type} ${textOf((object.metadata as JsonObject).name ?? "")}`.trim());

test("a watch of one object by its name starts with that object alone, and with none if it does not exist", async () => {
  const server = await createTestServer();
  for (const name of ["a", "b", "c"]) await server.request("POST", CONFIG_MAPS, makeConfigMap(name));

  const streams = [
    await watch(server, "fieldSelector=metadata.name%3Db"),
    await watch(server, "fieldSelector=metadata.name%3Db%2Cmetadata.name!%3Db"),
    await watch(server, "fieldSelector=metadata.name%3Dnone"),
    await watch(server, "fieldSelector=metadata.name%3Db%2Fc"),
  ];
  await server.request("PATCH", `${CONFIG_MAPS}/b`, { data: { x: "1" } }, MERGE);
  await server.settle();

  expect(streams.map(typesOf)).toEqual([["ADDED b", "MODIFIED b"], [], [], []]);
});

describe("a watch", () => {
  test("sends the existing objects, then every change", async () => {
    const server = await createTestServer();
    await server.request("POST", CONFIG_MAPS, makeConfigMap("a"));
    const stream = await watch(server, "");

    await server.request("PATCH", `${CONFIG_MAPS}/a`, { data: { b: "2" } }, MERGE);
    await server.request("PATCH", `${CONFIG_MAPS}/a`, { data: { b: "2" } }, MERGE);
    await server.request("DELETE", `${CONFIG_MAPS}/a`);
    await server.settle();

    expect(typesOf(stream)).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
    expect(stream.events().map(({ object }) => Number((object.metadata as JsonObject).resourceVersion))).toEqual([
      2, 3, 4,
    ]);
    expect(stream.events()[2]?.object.data).toEqual({ a: "1", b: "2" });
  });

  test("adds objects that start to match and deletes those that stop, with their last matching state", async () => {
    const server = await createTestServer();
    const stream = await watch(server, "labelSelector=on%3Dyes");

    await server.request("POST", CONFIG_MAPS, makeConfigMap("a"));
    await server.request("PATCH", `${CONFIG_MAPS}/a`, { metadata: { labels: { on: "yes" } } }, MERGE);
    await server.request("PATCH", `${CONFIG_MAPS}/a`, { metadata: { labels: { on: "no" } }, data: { a: "9" } }, MERGE);
    await server.settle();

    expect(typesOf(stream)).toEqual(["ADDED a", "DELETED a"]);
    expect(stream.events()[1]?.object).toMatchObject({
      metadata: { labels: { on: "yes" }, resourceVersion: "4" },
      data: { a: "1" },
    });
  });

  test("starts after a resourceVersion without repeating it", async () => {
    const server = await createTestServer();
    await server.request("POST", CONFIG_MAPS, makeConfigMap("a"));
    const { revision } = server.cache;
    await server.request("POST", CONFIG_MAPS, makeConfigMap("b"));

    const stream = await watch(server, `resourceVersion=${revision}`);
    await server.settle();

    expect(typesOf(stream)).toEqual(["ADDED b"]);
  });

  test("resumes after a restart with the events after its last one, and none twice", async () => {
    const before = await createTestServer();
    await before.request("POST", CONFIG_MAPS, makeConfigMap("a"));
    const { revision } = before.cache;
    await before.request("POST", CONFIG_MAPS, makeConfigMap("b"));
    await before.request("PATCH", `${CONFIG_MAPS}/a`, { data: { b: "2" } }, MERGE);
    await before.request("DELETE", `${CONFIG_MAPS}/a`);
    await before.server.close();

    const after = await createTestServer({ clusters: {}, engine: before.engine });
    const stream = await watch(after, `resourceVersion=${revision}`);
    await after.request("POST", CONFIG_MAPS, makeConfigMap("c"));
    await after.settle();

    expect(typesOf(stream)).toEqual(["ADDED b", "MODIFIED a", "DELETED a", "ADDED c"]);
    expect(stream.events()[2]?.object).toMatchObject({
      metadata: { resourceVersion: String(revision + 3) },
      data: { a: "1", b: "2" },
    });
  });

  test("resumes after a restart and deletes objects that stopped matching in the meantime", async () => {
    const before = await createTestServer();
    await before.request("POST", CONFIG_MAPS, {
      ...makeConfigMap("a"),
      metadata: { name: "a", labels: { on: "yes" } },
    });
    const { revision } = before.cache;
    await before.request("PATCH", `${CONFIG_MAPS}/a`, { metadata: { labels: { on: "no" } } }, MERGE);
    await before.server.close();

    const after = await createTestServer({ clusters: {}, engine: before.engine });
    const stream = await watch(after, `labelSelector=on%3Dyes&resourceVersion=${revision}`);
    await after.settle();

    expect(typesOf(stream)).toEqual(["DELETED a"]);
    expect(stream.events()[0]?.object).toMatchObject({
      metadata: { labels: { on: "yes" }, resourceVersion: String(revision + 1) },
    });
  });

  test("sends no bookmark before it has loaded the past that it resumes from", async () => {
    const before = await createTestServer();
    const { revision } = before.cache;
    await before.request("POST", CONFIG_MAPS, makeConfigMap("a"));
    await before.server.close();
    const reading = Promise.withResolvers<void>();
    const { past } = before.engine;
    before.engine.past = async function* (upTo) {
      await reading.promise;
      yield* past(upTo);
    };

    const after = await createTestServer({ clusters: {}, engine: before.engine });
    const stream = await watch(after, `allowWatchBookmarks=true&resourceVersion=${revision}`);
    after.clock.advance(60_000);
    const early = typesOf(stream);
    reading.resolve();
    await after.settle();
    after.clock.advance(60_000);

    expect(early).toEqual([]);
    expect(typesOf(stream)).toEqual(["ADDED a", "BOOKMARK"]);
  });

  test("a watch from before its cluster was created receives 410 and has to list again", async () => {
    const server = await createTestServer();
    await server.request("POST", CONFIG_MAPS, makeConfigMap("a"));
    const { revision } = server.cache;
    await server.server.addCluster("paris", "hub");

    const { response } = await server.request(
      "GET",
      `/clusters/paris${CONFIG_MAPS}?watch=1&resourceVersion=${revision}`,
    );
    const lines: Uint8Array[] = [];
    (response.body as ByteStream).open({ write: (chunk) => lines.push(chunk) > 0, onDrain: () => {}, end: () => {} });

    expect(JSON.parse(Buffer.concat(lines).toString())).toMatchObject({
      type: "ERROR",
      object: { code: 410, reason: "Expired" },
    });
  });

  test("marks the end of a streaming list with a bookmark", async () => {
    const server = await createTestServer();
    await server.request("POST", CONFIG_MAPS, makeConfigMap("a"));

    const stream = await watch(
      server,
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
    );

    expect(typesOf(stream)).toEqual(["ADDED a", "BOOKMARK"]);
    expect(stream.events()[1]?.object).toEqual({
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { resourceVersion: "2", annotations: { "k8s.io/initial-events-end": "true" } },
    });
  });

  test("sends no bookmark while a streaming list waits for the requested resourceVersion", async () => {
    const server = await createTestServer();
    const stream = await watch(
      server,
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=999&timeoutSeconds=4",
    );

    server.clock.advance(3000);
    await server.settle();

    expect(stream.events()).toMatchObject([{ type: "ERROR", object: { code: 504, reason: "Timeout" } }]);
  });

  test("marks the end of a streaming list with a row of a Table", async () => {
    const server = await createTestServer();
    const stream = await watch(
      server,
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&includeObject=None",
      { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
    );

    const [bookmark] = stream.events();

    expect(bookmark).toMatchObject({
      type: "BOOKMARK",
      object: {
        kind: "Table",
        rows: [
          {
            object: {
              kind: "PartialObjectMetadata",
              metadata: { annotations: { "k8s.io/initial-events-end": "true" } },
            },
          },
        ],
      },
    });
    expect(bookmark).not.toHaveProperty("object.metadata.annotations");
    expect(bookmark).toMatchObject({
      object: { columnDefinitions: [{ name: "Name" }, { name: "Data" }, { name: "Age" }] },
    });
  });

  test("the legacy watch prefix rejects writes", async () => {
    const { request } = await createTestServer();

    expect((await request("POST", "/api/v1/watch/namespaces/default/configmaps", makeConfigMap("a"))).status).toBe(405);
  });

  test("ends at its timeout, after a last bookmark", async () => {
    const server = await createTestServer();
    const stream = await watch(server, "timeoutSeconds=5&allowWatchBookmarks=true&resourceVersion=1");

    server.clock.advance(3000);
    const before = stream.ended;
    server.clock.advance(2000);

    expect([before, stream.ended]).toEqual([false, true]);
    expect(typesOf(stream)).toEqual(["BOOKMARK"]);
  });

  test("ends at a timeout that is too short for a bookmark", async () => {
    const server = await createTestServer();
    const stream = await watch(server, "timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=1");

    server.clock.advance(1000);

    expect(stream.ended).toBe(true);
    expect(typesOf(stream)).toEqual([]);
  });

  test("waits for a slow client and resumes where it stopped", async () => {
    const server = await createTestServer();
    await server.request("POST", CONFIG_MAPS, makeConfigMap("a"));
    const stream = await watch(server, "");
    stream.accept = false;

    for (const name of ["b", "c", "d"]) await server.request("POST", CONFIG_MAPS, makeConfigMap(name));
    await server.settle();
    const whileSlow = typesOf(stream).length;
    stream.accept = true;
    stream.drain();

    expect(whileSlow).toBeLessThan(4);
    expect(typesOf(stream)).toEqual(["ADDED a", "ADDED b", "ADDED c", "ADDED d"]);
  });

  test("is disconnected when its client reads nothing for half a minute, and not before", async () => {
    const server = await createTestServer();
    const stream = await watch(server, "");
    stream.accept = false;
    await server.request("POST", CONFIG_MAPS, makeConfigMap("a"));
    server.clock.advance(20_000);
    stream.drain();
    await server.request("POST", CONFIG_MAPS, makeConfigMap("b"));

    server.clock.advance(29_999);
    const before = stream.ended;
    server.clock.advance(1);

    expect([before, stream.ended]).toEqual([false, true]);
    expect(stream.events().at(-1)).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
  });

  test("whose client reads stays open, however long it is idle afterwards", async () => {
    const server = await createTestServer();
    const stream = await watch(server, "");
    stream.accept = false;
    await server.request("POST", CONFIG_MAPS, makeConfigMap("a"));

    stream.drain();
    server.clock.advance(120_000);

    expect(stream.ended).toBe(false);
  });

  test("sends a large initial list in chunks", async () => {
    const server = await createTestServer();
    const data = { a: "x".repeat(100_000) };
    for (const name of ["a", "b", "c", "d", "e"])
      await server.request("POST", CONFIG_MAPS, { ...makeConfigMap(name), data });

    const stream = await watch(server, "");

    expect(typesOf(stream)).toEqual(["ADDED a", "ADDED b", "ADDED c", "ADDED d", "ADDED e"]);
    expect(stream.chunks).toHaveLength(2);
  });

  test("watchers of the same objects share the bytes of a batch", async () => {
    const server = await createTestServer();
    const [one, two] = [await watch(server, ""), await watch(server, "")];
    const selecting = await watch(server, "fieldSelector=metadata.name%3Db");

    await Promise.all(["a", "b", "c"].map((name) => server.request("POST", CONFIG_MAPS, makeConfigMap(name))));
    await server.settle();

    expect(typesOf(one)).toEqual(["ADDED a", "ADDED b", "ADDED c"]);
    expect(one.chunks).toHaveLength(1);
    expect(two.chunks[0]).toBe(one.chunks[0]);
    expect(typesOf(selecting)).toEqual(["ADDED b"]);
  });

  test("watchers with the same selector share the bytes, and those with another do not", async () => {
    const server = await createTestServer();
    const [one, two] = [await watch(server, "labelSelector=on%3Dyes"), await watch(server, "labelSelector=on%3Dyes")];
    const others = [
      await watch(server, "labelSelector=on%21%3Dyes"),
      await watch(server, "labelSelector=on%3Dyes&fieldSelector=metadata.name%3Dc"),
    ];

    await Promise.all(
      ["a", "b", "c"].map((name) =>
        server.request("POST", CONFIG_MAPS, {
          ...makeConfigMap(name),
          metadata: { name, labels: { on: name === "b" ? "no" : "yes" } },
        }),
      ),
    );
    await server.settle();

    expect(typesOf(one)).toEqual(["ADDED a", "ADDED c"]);
    expect(two.chunks[0]).toBe(one.chunks[0]);
    expect(others.map(typesOf)).toEqual([["ADDED b"], ["ADDED c"]]);
  });

  test("is disconnected when its backlog is full, and can resume from its last event without losing one", async () => {
    const server = await createTestServer();
    const stream = await watch(server, "");
    stream.accept = false;
    const large = { ...makeConfigMap("x"), data: { a: "x".repeat(900_000) } };

    for (let index = 0; index < 22; index++)
      await server.request("POST", CONFIG_MAPS, { ...large, metadata: { name: `large-${index}` } });
    await server.settle();

    const [first, last] = stream.events();
    const resumed = await watch(
      server,
      `resourceVersion=${textOf((required(first, "an event").object.metadata as JsonObject).resourceVersion)}`,
    );
    await server.settle();

    expect(stream.ended).toBe(true);
    expect(last).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
    expect(typesOf(resumed)).toEqual(Array.from({ length: 21 }, (_, index) => `ADDED large-${index + 1}`));
  });

  test("prints columns in its first event only when it is a Table", async () => {
    const server = await createTestServer();
    await server.request("POST", CONFIG_MAPS, makeConfigMap("a"));
    await server.request("POST", CONFIG_MAPS, makeConfigMap("b"));

    const stream = await watch(server, "", { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });

    const [first, second] = stream.events();
    expect(first?.object.columnDefinitions).toHaveLength(3);
    expect(second?.object).toMatchObject({
      columnDefinitions: null,
      rows: [{ cells: ["b", expect.anything(), expect.anything()] }],
    });
  });

  test("ends when the CRD of its kind changes", async () => {
    const server = await createTestServer();
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await server.request("POST", path, makeDefinition());
    const { response } = await server.request("GET", "/apis/example.com/v1/widgets?watch=1");
    let ended = false;
    (response.body as ByteStream).open({ write: () => true, onDrain() {}, end: () => (ended = true) });

    await server.request("PATCH", `${path}/widgets.example.com`, { spec: { names: { shortNames: ["w"] } } }, MERGE);
    await server.settle();

    expect(ended).toBe(true);
  });
});

describe("the direct transport", () => {
  const path = { cluster: "*", group: "", version: "v1", resource: "namespaces" };

  test("watches all clusters at once, including those added later", async () => {
    const { transport, server, settle } = await createTestServer({
      profiles: { hub: PROFILE },
      clusters: { hub: "hub" },
    });
    const abort = new AbortController();
    const seen: TransportWatchEvent[] = [];
    const reading = (async () => {
      for await (const batch of transport.watch({ path }, abort.signal)) seen.push(...batch);
    })();
    await settle();

    await server.addCluster("paris", "hub");
    await transport.send({ verb: "create", path: { ...path, cluster: "paris" }, body: { metadata: { name: "shop" } } });
    await settle();
    await server.removeCluster("paris");
    await settle();
    abort.abort();
    await reading;

    const reported = seen.map(
      ({ type, cluster, object }) => `${type} ${cluster}/${textOf((object.metadata as JsonObject).name)}`,
    );
    expect(reported.slice(0, 2)).toEqual(["ADDED hub/default", "ADDED hub/kube-system"]);
    expect(reported.slice(2, 5).toSorted()).toEqual([
      "ADDED paris/default",
      "ADDED paris/kube-system",
      "ADDED paris/shop",
    ]);
    expect(reported.slice(5).toSorted()).toEqual([
      "DELETED paris/default",
      "DELETED paris/kube-system",
      "DELETED paris/shop",
    ]);
  });

  test("watches the clusters that its reader selects, and ignores the others", async () => {
    const { transport, server, settle } = await createTestServer({
      profiles: { hub: PROFILE },
      clusters: { hub: "hub" },
    });
    const abort = new AbortController();
    const seen: TransportWatchEvent[] = [];
    const reading = (async () => {
      for await (const batch of transport.watch({ path, where: (cluster) => cluster === "paris" }, abort.signal))
        seen.push(...batch);
    })();
    await settle();

    await server.addCluster("oslo", "hub");
    await server.addCluster("paris", "hub");
    for (const cluster of ["hub", "oslo", "paris"])
      await transport.send({ verb: "create", path: { ...path, cluster }, body: { metadata: { name: "shop" } } });
    await settle();
    abort.abort();
    await reading;

    const reported = seen.map(
      ({ type, cluster, object }) => `${type} ${cluster}/${textOf((object.metadata as JsonObject).name)}`,
    );
    expect(reported.toSorted()).toEqual(["ADDED paris/default", "ADDED paris/kube-system", "ADDED paris/shop"]);
  });

  test("returns shared read-only objects, with the parts of the objects it receives", async () => {
    const { transport } = await createTestServer();
    const mine = makeConfigMap("m");
    const where = { cluster: "hub", group: "", version: "v1", resource: "configmaps", namespace: "default" };

    const created = await transport.send({ verb: "create", path: where, body: mine });
    const read = await transport.send({ verb: "get", path: { ...where, name: "m" } });

    expect(read.data).toEqual({ a: "1" });
    expect(created.data).toBe(mine.data);
    expect(Object.isFrozen(created.data)).toBe(true);
  });

  test("records no field managers for writes of the simulation on members", async () => {
    const { transport } = await createTestServer({ clusters: { hub: "hub", paris: "hub" } });
    const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
    const where = { group: "", version: "v1", resource: "pods", namespace: "default" };

    const onMember = await transport.send({ verb: "create", path: { ...where, cluster: "paris" }, body: pod });
    const onHub = await transport.send({ verb: "create", path: { ...where, cluster: "hub" }, body: pod });

    expect(onMember.metadata).not.toHaveProperty("managedFields");
    expect(onHub.metadata).toHaveProperty("managedFields");
  });
});
