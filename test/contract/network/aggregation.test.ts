/** APIServices: requests, discovery and OpenAPI of servers behind a Service. */
import { PassThrough } from "node:stream";
import type { ServerResponse } from "node:http";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import type { CertificateAuthority, Kind } from "@flotilla/apimachinery";
import { systemClock } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { APIService, bootstrapRbac, EndpointSlice, Endpoints, kubernetesKinds, Service } from "@flotilla/kubernetes";
import { startAggregatedServer } from "@flotilla/testing/aggregated-server.ts";
import type { AggregatedServer, AskedRequest } from "@flotilla/testing/aggregated-server.ts";
import { bodyOf } from "../../../packages/apiserver/src/request/byte-streams.ts";
import type { Engine } from "../../../packages/apiserver/src/store/engine.ts";
import { createMemoryEngine } from "../../../packages/apiserver/src/store/memory-engine.ts";
import { ADDRESS_ANNOTATION, makeDefinition, PROFILE, createTestServer } from "@flotilla/testing/api-server.ts";
import type { TestServer } from "@flotilla/testing/api-server.ts";

const KINDS: Kind[] = [APIService, Service, EndpointSlice, Endpoints];
const SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices";
const AGGREGATED = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
const RESOURCES = {
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: "fish.example/v1",
  resources: [
    {
      name: "trout",
      singularName: "trout",
      namespaced: true,
      kind: "Trout",
      verbs: ["get", "list", "delete", "deletecollection"],
    },
    { name: "trout/status", singularName: "", namespaced: true, kind: "Trout", verbs: ["get"] },
  ],
};

let frontProxy: CertificateAuthority;
let options: Parameters<typeof createTestServer>[0];
let subject: TestServer;
let remote: AggregatedServer;
let answer: (request: AskedRequest, response: ServerResponse) => void;

const json = (response: ServerResponse, body: Json, status = 200): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

beforeEach(async () => {
  frontProxy = await createCertificateAuthority({ clock: systemClock });
  answer = (request, response) => {
    if (request.path === "/apis/fish.example/v1") return json(response, RESOURCES);
    if (request.path === "/openapi/v3")
      return json(response, {
        paths: { "apis/fish.example/v1": { serverRelativeURL: "/openapi/v3/apis/fish.example/v1?hash=A" } },
      });
    if (request.path === "/openapi/v2")
      return json(response, {
        paths: {
          "/apis/fish.example/v1/trout": { get: { schema: { $ref: "#/definitions/example.Trout" } } },
          "/apis/other.example/v1/x": {},
        },
        definitions: { "example.Trout": { type: "object" }, "example.Unused": { type: "object" } },
      });
    if (request.path.startsWith("/apis/fish.example/v1/")) return json(response, { kind: "TroutList", items: [] });
    json(response, { kind: "Status" }, 404);
  };
  remote = await startAggregatedServer({
    clientCa: frontProxy.certificate,
    names: ["fish.default.svc"],
    answer: (request, response) => answer(request, response),
    upgrade: (_request, socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\nhello");
      socket.pipe(socket);
    },
  });
  const identities = new Map<string, { cert: string; key: string }>();
  options = {
    profiles: { hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, ...KINDS] } },
    clusters: { hub: "hub", other: "hub" },
    frontProxy(commonName) {
      const known = identities.get(commonName);
      if (known) return known;
      const { certificate: cert, key } = frontProxy.issueClusterClient(
        { commonName, organizations: [] },
        { cluster: commonName, lifetimeMs: 3_600_000 },
      );
      identities.set(commonName, { cert, key });
      return { cert, key };
    },
  };
  subject = await createTestServer(options);
  onTestFinished(async () => {
    remote.close();
    await subject.server.close();
  });
});

const service = (annotations: JsonObject = { [ADDRESS_ANNOTATION]: `127.0.0.1:${remote.port}` }): JsonObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "fish", annotations },
  spec: { ports: [{ port: 443 }] },
});

const apiService = (spec: JsonObject = {}, name = "v1.fish.example"): JsonObject => ({
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  metadata: { name },
  spec: {
    group: "fish.example",
    version: "v1",
    groupPriorityMinimum: 2000,
    versionPriority: 10,
    service: { namespace: "default", name: "fish" },
    caBundle: remote.caBundle,
    ...spec,
  },
});

/** Registers the remote server and waits for the verdict of the first check. */
async function register(spec: JsonObject = {}): Promise<JsonObject> {
  await subject.request("POST", "/api/v1/namespaces/default/services", service());
  const { status, body } = await subject.request("POST", SERVICES, apiService(spec));
  expect({ status, body }).toMatchObject({ status: 201 });
  return checked("v1.fish.example");
}

async function checked(name: string, not?: string): Promise<JsonObject> {
  let condition: JsonObject | undefined;
  await expect
    .poll(async () => {
      subject.clock.advance(200);
      const { body } = await subject.request("GET", `${SERVICES}/${name}`);
      [condition] = ((body.status as JsonObject | undefined)?.conditions ?? []) as JsonObject[];
      return condition !== undefined && condition.reason !== not;
    })
    .toBe(true);
  return condition ?? {};
}

async function textOf(
  path: string,
  method = "GET",
  body?: unknown,
  headers = {},
): Promise<{ status: number; text: string }> {
  const { response } = await subject.request(method, path, body, headers);
  const chunks: Uint8Array[] = [];
  for await (const chunk of bodyOf(response.body, new AbortController().signal)) chunks.push(chunk);
  return { status: response.status, text: Buffer.concat(chunks).toString() };
}

const proxied = (): AskedRequest[] => remote.asked.filter(({ path }) => path.startsWith("/apis/fish.example/v1/"));

test("a request reaches the server with the identity of its user, and without its credentials", async () => {
  expect(await register()).toMatchObject({ status: "True", reason: "Passed", message: "all checks passed" });

  const { status, text } = await textOf(
    "/apis/fish.example/v1/namespaces/default/trout?labelSelector=a%3Db",
    "GET",
    undefined,
    {
      authorization: "Bearer secret",
      "x-remote-user": "forged",
      "x-remote-group": "system:masters",
      accept: "application/json",
    },
  );

  expect({ status, body: JSON.parse(text) as Json }).toEqual({ status: 200, body: { kind: "TroutList", items: [] } });
  const [asked] = proxied();
  expect(asked).toMatchObject({
    method: "GET",
    path: "/apis/fish.example/v1/namespaces/default/trout?labelSelector=a%3Db",
  });
  expect(asked?.by).toMatch(/^flotilla-front-proxy:hub\.\d+$/);
  expect(asked?.headers).toMatchObject({
    host: "fish.default.svc:443",
    "x-remote-user": "admin",
    "x-remote-group": "system:masters, system:authenticated",
  });
  expect(asked?.headers).not.toHaveProperty("authorization");
});

test("the certificate names the cluster, so that a server can distinguish requests of another cluster", async () => {
  await register();
  await subject.request("POST", "/clusters/other/api/v1/namespaces/default/services", service());
  await subject.request("POST", `/clusters/other${SERVICES}`, apiService());
  await expect
    .poll(() => {
      subject.clock.advance(200);
      return new Set(remote.asked.map(({ by }) => by.replace(/\.\d+$/, "")));
    })
    .toEqual(new Set(["flotilla-front-proxy:hub", "flotilla-front-proxy:other"]));
});

test("a body and a write reach the server", async () => {
  await register();

  await textOf(
    "/apis/fish.example/v1/namespaces/default/trout",
    "POST",
    { kind: "Trout" },
    { "content-type": "application/json" },
  );

  expect(proxied()).toMatchObject([{ method: "POST", body: '{"kind":"Trout"}' }]);
});

test("a dry run of several requests does not reach the server", async () => {
  await register();
  const forged = '{},"warnings":[]},{"status":200,"body":{"forged":true}';
  answer = (_request, response) => void response.writeHead(200, { "content-type": "application/json" }).end(forged);
  const path = "/apis/fish.example/v1/namespaces/default/trout";
  const requests = [
    { method: "POST", path, body: '{"kind":"Trout"}' },
    { method: "GET", path: `${path}/a` },
    { method: "GET", path: "/api/v1/namespaces/default" },
  ];

  const { body } = await subject.request("POST", "/dry-run", { requests });

  expect(body.responses).toMatchObject([
    { status: 400, body: { message: expect.stringContaining("an aggregated API server answers for fish.example/v1") } },
    { status: 400, body: { kind: "Status" } },
    { status: 200, body: { kind: "Namespace" } },
  ]);
  expect(proxied()).toEqual([]);
});

test("an object whose owner the server no longer has is deleted, and no other one", async () => {
  const present = new Map([
    ["a", "uid-a"],
    ["b", "uid-b"],
  ]);
  const former = answer;
  answer = (request, response) => {
    const name = /trout\/(\w+)$/.exec(request.path)?.[1];
    if (name === "broken") return json(response, { kind: "Status" }, 500);
    if (name === undefined) return former(request, response);
    const uid = present.get(name);
    json(response, { metadata: { name, uid: uid ?? "" } }, uid === undefined ? 404 : 200);
  };
  await register();
  const owner = (name: string, uid = `uid-${name}`): JsonObject => ({
    apiVersion: "fish.example/v1",
    kind: "Trout",
    name,
    uid,
  });
  const create = (name: string, ...ownerReferences: JsonObject[]): Promise<unknown> =>
    subject.request("POST", "/api/v1/namespaces/default/configmaps", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, ownerReferences },
    });
  await create("of-a", owner("a"));
  await create("of-b", owner("b"));
  await create("of-another-b", owner("b", "uid-of-an-earlier-b"));
  await create("of-both", owner("a"), owner("b"));
  await create("of-broken", owner("broken"));
  const names = async (): Promise<string[]> => {
    subject.clock.advance(35_000);
    await subject.settle();
    const { body } = await subject.request("GET", "/api/v1/namespaces/default/configmaps");
    return (body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
  };

  await expect.poll(names).toEqual(["of-a", "of-b", "of-both", "of-broken"]);
  present.delete("a");
  await expect.poll(names).toEqual(["of-b", "of-both", "of-broken"]);

  const { body } = await subject.request("GET", "/api/v1/namespaces/default/configmaps/of-both");
  expect((body.metadata as JsonObject).ownerReferences).toEqual([owner("b")]);
});

describe("garbage collection of objects that the server stores", () => {
  interface Trout {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    ownerReferences: JsonObject[];
    finalizers: string[];
    deletionTimestamp?: string;
  }
  let trout: Map<string, Trout>;
  let broken: boolean;
  let pageSize: number;
  let version: number;
  const put = (name: string, ownerReferences: JsonObject[] = [], rest: Partial<Trout> = {}): void =>
    void trout.set(name, {
      name,
      uid: `uid-${name}`,
      resourceVersion: String(++version),
      ownerReferences,
      finalizers: [],
      ...rest,
    });
  const ofTrout = (name: string): JsonObject => ({
    apiVersion: "fish.example/v1",
    kind: "Trout",
    name,
    uid: `uid-${name}`,
    blockOwnerDeletion: true,
  });
  const render = (each: Trout): JsonObject => ({
    metadata: { namespace: "default", ...each },
  });

  beforeEach(async () => {
    trout = new Map();
    broken = false;
    pageSize = 2;
    version = 0;
    const former = answer;
    const [resource] = RESOURCES.resources;
    answer = (request, response) => {
      const { pathname, searchParams } = new URL(request.path, "https://fish");
      if (pathname === "/apis/fish.example/v1")
        return json(response, {
          ...RESOURCES,
          resources: [{ ...resource, verbs: ["get", "list", "watch", "delete", "patch"] }] as unknown as Json,
        });
      const at = /^\/apis\/fish\.example\/v1\/(?:namespaces\/([^/]+)\/)?trout(?:\/(.+))?$/.exec(pathname);
      if (!at) return former(request, response);
      if (broken) return json(response, { kind: "Status" }, 500);
      const [, namespace, name] = at;
      if (name === undefined) {
        const from = Number(searchParams.get("continue") ?? 0);
        const page = [...trout.values()].slice(from, from + pageSize);
        const next = from + pageSize < trout.size ? String(from + pageSize) : "";
        return json(response, { metadata: { continue: next }, items: page.map(render) });
      }
      const found = trout.get(name);
      if (!found || namespace !== (found.namespace ?? "default")) return json(response, { kind: "Status" }, 404);
      if (request.method === "GET") return json(response, render(found));
      const sent = JSON.parse(request.body) as {
        metadata?: Partial<Trout>;
        preconditions?: Partial<Trout>;
        propagationPolicy?: string;
      };
      const expected = sent.metadata ?? sent.preconditions;
      if (expected?.uid !== found.uid || expected.resourceVersion !== found.resourceVersion)
        return json(response, { kind: "Status" }, 409);
      if (request.method === "PATCH") Object.assign(found, sent.metadata);
      else if (sent.propagationPolicy === "Foreground") found.finalizers.push("foregroundDeletion");
      if (request.method === "DELETE") found.deletionTimestamp = "2024-05-01T12:00:00Z";
      found.resourceVersion = String(++version);
      if (found.deletionTimestamp !== undefined && found.finalizers.length === 0) trout.delete(name);
      json(response, render(found));
    };
    await register();
  });

  const createConfigMap = async (name: string, ownerReferences: JsonObject[] = []): Promise<JsonObject> => {
    const { body } = await subject.request("POST", "/api/v1/namespaces/default/configmaps", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, ownerReferences },
    });
    return { apiVersion: "v1", kind: "ConfigMap", name, uid: (body.metadata as JsonObject).uid ?? "" };
  };
  /** The names of the objects of the server after a pass. */
  const left = async (): Promise<string[]> => {
    subject.clock.advance(5_000);
    await new Promise((resolve) => setImmediate(resolve));
    return [...trout.keys()].sort();
  };
  const configMaps = async (): Promise<string[]> => {
    await left();
    const { body } = await subject.request("GET", "/api/v1/namespaces/default/configmaps");
    return (body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name).sort();
  };

  test("one whose last owner is gone is deleted, wherever that was stored", async () => {
    const stays = await createConfigMap("stays");
    const gone = await createConfigMap("gone");
    put("root");
    put("of-stays", [stays]);
    put("of-gone", [gone]);
    put("of-both", [gone, stays]);
    put("of-root", [ofTrout("root")]);
    put("of-another", [ofTrout("earlier")]);
    put("of-of-gone", [ofTrout("of-gone")]);
    put("free");
    await expect.poll(left).toEqual(["free", "of-both", "of-gone", "of-of-gone", "of-root", "of-stays", "root"]);

    await subject.request("DELETE", "/api/v1/namespaces/default/configmaps/gone");

    await expect.poll(left).toEqual(["free", "of-both", "of-root", "of-stays", "root"]);
    await expect.poll(async () => (await left()) && trout.get("of-both")?.ownerReferences).toEqual([stays]);
  });

  test("one that is deleted in the foreground waits for its dependents here and there", async () => {
    put("root", [], { deletionTimestamp: "2024-05-01T12:00:00Z", finalizers: ["foregroundDeletion"] });
    put("of-root", [ofTrout("root")]);
    put("of-of-root", [ofTrout("of-root")]);
    await createConfigMap("of-root", [ofTrout("root")]);

    await expect.poll(left).toEqual([]);

    expect(await configMaps()).toEqual([]);
  });

  /** Runs several passes. */
  const afterPasses = async (): Promise<string[]> => {
    for (let at = 0; at < 30; at++) {
      await left();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return left();
  };

  test.each<[string, JsonObject]>([
    ["another name", { name: "nonexistent" }],
    ["another kind", { kind: "Salmon" }],
    ["another version", { apiVersion: "fish.example/v2" }],
  ])("a reference with %s and the uid of an owner says nothing about the owner's dependents", async (_, other) => {
    put("root");
    put("a-mistaken", [{ ...ofTrout("root"), ...other }]);
    put("of-root", [ofTrout("root")]);
    await createConfigMap("a-mistaken", [{ ...ofTrout("root"), ...other }]);
    await createConfigMap("of-root", [ofTrout("root")]);

    // Only a kind that the server has can be known to be gone.
    const mistaken = "name" in other ? [] : ["a-mistaken"];
    await expect.poll(left).toEqual([...mistaken, "of-root", "root"]);
    await expect.poll(configMaps).toEqual([...mistaken, "of-root"]);

    expect(await afterPasses()).toEqual([...mistaken, "of-root", "root"]);
    expect(await configMaps()).toEqual([...mistaken, "of-root"]);
  });

  test("a reference from another namespace says nothing about the owner's dependents", async () => {
    await subject.request("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "a-lake" },
    });
    put("root");
    put("a-mistaken", [ofTrout("root")], { namespace: "a-lake" });
    put("of-root", [ofTrout("root")]);
    await subject.request("POST", "/api/v1/namespaces/a-lake/configmaps", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a-mistaken", ownerReferences: [ofTrout("root")] },
    });
    await createConfigMap("of-root", [ofTrout("root")]);

    await expect.poll(left).toEqual(["of-root", "root"]);
    const inLake = async (): Promise<number> => {
      await left();
      return (await subject.request("GET", "/api/v1/namespaces/a-lake/configmaps/a-mistaken")).status;
    };
    await expect.poll(inLake).toBe(404);

    expect(await afterPasses()).toEqual(["of-root", "root"]);
    expect(await configMaps()).toEqual(["of-root"]);
  });

  test("an owner is orphaned only after its server has said which kinds it has since the start", async () => {
    const owner = await createConfigMap("owner");
    put("of-owner", [owner]);
    const former = answer;
    answer = (_request, response) => json(response, { kind: "Status" }, 500);
    // As after a restart, nothing is known of the changed service.
    await subject.request(
      "PATCH",
      `${SERVICES}/v1.fish.example`,
      { spec: { versionPriority: 11 } },
      { "content-type": "application/merge-patch+json" },
    );

    await subject.request("DELETE", "/api/v1/namespaces/default/configmaps/owner?propagationPolicy=Orphan");
    await afterPasses();
    expect(await configMaps()).toEqual(["owner"]);
    answer = former;

    await expect.poll(configMaps).toEqual([]);
    expect(await afterPasses()).toEqual(["of-owner"]);
    expect(trout.get("of-owner")?.ownerReferences).toEqual([]);
  });

  test("one that is deleted without its dependents waits for a version whose kinds are not known", async () => {
    await subject.request("POST", SERVICES, apiService({ version: "v2", versionPriority: 20 }, "v2.fish.example"));
    put("root", [], { deletionTimestamp: "2024-05-01T12:00:00Z", finalizers: ["orphan"] });
    put("of-root", [ofTrout("root")]);

    expect(await afterPasses()).toEqual(["of-root", "root"]);
    await subject.request("DELETE", `${SERVICES}/v2.fish.example`);

    await expect.poll(left).toEqual(["of-root"]);
    expect(trout.get("of-root")?.ownerReferences).toEqual([]);
  });

  test("one of more than 20,000 objects of a kind is released by an owner that is deleted without it", async () => {
    const owner = await createConfigMap("owner");
    put("of-owner", [owner]);
    for (let at = 0; at < 20_100; at++) put(`free-${at}`);
    pageSize = 100;

    await subject.request("DELETE", "/api/v1/namespaces/default/configmaps/owner?propagationPolicy=Orphan");

    const isThere = async (): Promise<number> =>
      (await subject.request("GET", "/api/v1/namespaces/default/configmaps/owner")).status;
    await expect.poll(isThere, { timeout: 30_000 }).toBe(404);
    expect(trout.get("of-owner")?.ownerReferences).toEqual([]);
  });

  test("several owners are orphaned with one list", async () => {
    const owners = ["a", "b", "c", "d"];
    for (const name of owners) put(`of-${name}`, [await createConfigMap(name)]);
    const lists = (): number => remote.asked.filter(({ path }) => path.endsWith("/trout?limit=100")).length;
    const before = lists();

    await Promise.all(
      owners.map((name) =>
        subject.request("DELETE", `/api/v1/namespaces/default/configmaps/${name}?propagationPolicy=Orphan`),
      ),
    );
    await subject.settle();

    const { body } = await subject.request("GET", "/api/v1/namespaces/default/configmaps");
    expect(body.items).toEqual([]);
    expect(lists() - before).toBeLessThan(owners.length);
    expect([...trout.values()].map(({ ownerReferences }) => ownerReferences)).toEqual(owners.map(() => []));
  });

  test("an object that cannot be deleted keeps no other one from being collected", async () => {
    const gone = await createConfigMap("gone");
    put("undeletable", [gone]);
    for (let at = 0; at < 20; at++) put(`of-gone-${at}`, [gone]);
    put("root", [], { deletionTimestamp: "2024-05-01T12:00:00Z", finalizers: ["foregroundDeletion"] });
    const former = answer;
    answer = (request, response) =>
      request.method === "DELETE" && request.path.includes("undeletable")
        ? json(response, { kind: "Status" }, 403)
        : former(request, response);

    await subject.request("DELETE", "/api/v1/namespaces/default/configmaps/gone");

    await expect.poll(left).toEqual(["undeletable"]);
  });

  test("an API server that is behind the store deletes nothing that is owned", async () => {
    const shared = createMemoryEngine({ isShared: true });
    let gate: PromiseWithResolvers<void> | undefined;
    const behind: Engine = Object.create(shared, {
      isShared: { value: true },
      changes: {
        async *value(after: number, signal: AbortSignal) {
          for await (const batch of shared.changes(after, signal)) {
            await gate?.promise;
            yield batch;
          }
        },
      },
      commit: { value: (write: Parameters<Engine["commit"]>[0]) => shared.commit(write) },
      scan: { value: (prefix: string) => shared.scan(prefix) },
    }) as Engine;
    const writer = await createTestServer({ ...options, engine: shared });
    onTestFinished(() => writer.server.close());
    subject = await createTestServer({ ...options, engine: behind });
    await register();
    await left();
    gate = Promise.withResolvers();
    onTestFinished(() => gate?.resolve());
    const { body } = await writer.request("POST", "/api/v1/namespaces/default/configmaps", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "owner" },
    });
    const { uid = "" } = body.metadata as JsonObject;
    put("of-owner", [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }]);

    for (let at = 0; at < 30; at++) {
      await left();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const whileBehind = await left();
    gate.resolve();
    gate = undefined;

    expect(whileBehind).toEqual(["of-owner"]);
    expect(await afterPasses()).toEqual(["of-owner"]);
  });

  test("what a server says about an owner holds in its own cluster alone", async () => {
    const other = "/clusters/other/api/v1/namespaces/default/configmaps";
    const createThere = (name: string): Promise<unknown> =>
      subject.request("POST", other, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, ownerReferences: [ofTrout("root")] },
      });
    await createThere("before");
    put("root", [], { deletionTimestamp: "2024-05-01T12:00:00Z", finalizers: ["foregroundDeletion"] });
    await createConfigMap("here", [ofTrout("root")]);
    await expect.poll(configMaps).toEqual([]);
    await expect.poll(left).toEqual([]);

    await createThere("after");
    await subject.settle();

    const { body } = await subject.request("GET", other);
    expect((body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)).toEqual([
      "after",
      "before",
    ]);
  });

  test("one that is deleted without its dependents leaves them", async () => {
    put("root", [], { deletionTimestamp: "2024-05-01T12:00:00Z", finalizers: ["orphan"] });
    put("of-root", [ofTrout("root")]);
    await createConfigMap("of-root", [ofTrout("root")]);

    await expect.poll(left).toEqual(["of-root"]);

    expect(trout.get("of-root")?.ownerReferences).toEqual([]);
    expect(await configMaps()).toEqual(["of-root"]);
  });

  test("an owner that is deleted without them leaves them, also when the server does not answer at first", async () => {
    const owner = await createConfigMap("owner");
    put("of-owner", [owner]);
    broken = true;

    await subject.request("DELETE", "/api/v1/namespaces/default/configmaps/owner?propagationPolicy=Orphan");
    expect(await configMaps()).toEqual(["owner"]);
    broken = false;

    await expect.poll(configMaps).toEqual([]);
    await left();
    expect(await left()).toEqual(["of-owner"]);
    expect(trout.get("of-owner")?.ownerReferences).toEqual([]);
  });
});

test("a path that leaves the group is rejected", async () => {
  await register();

  const { status } = await subject.request("GET", "/apis/fish.example/v1/namespaces/default/trout/a/%2e%2e/b");

  expect(status).toBe(400);
  expect(proxied()).toEqual([]);
});

test("a user without the right is denied before the server is asked", async () => {
  const denied = await createTestServer({
    profiles: { hub: { ...PROFILE, builtIns: kubernetesKinds, objects: [...PROFILE.objects, ...bootstrapRbac()] } },
    engine: subject.engine,
    user: { name: "jane", groups: ["system:authenticated"] },
  });
  onTestFinished(() => denied.server.close());
  await register();

  const { status } = await denied.request("GET", "/apis/fish.example/v1/namespaces/default/trout");

  expect(status).toBe(403);
  expect(proxied()).toEqual([]);
});

test("events of a watch arrive as the server sends them", async () => {
  await register();
  const former = answer;
  const stream = new PassThrough();
  answer = (request, response) => {
    if (!request.path.includes("watch=true")) return former(request, response);
    response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
    stream.pipe(response);
  };

  const { response } = await subject.request("GET", "/apis/fish.example/v1/trout?watch=true");
  const events = bodyOf(response.body, new AbortController().signal);
  stream.write('{"type":"ADDED"}\n');
  const first = await events.next();
  stream.end('{"type":"DELETED"}\n');
  const second = await events.next();

  expect([first, second].map(({ value }) => Buffer.from(value as Uint8Array).toString())).toEqual([
    '{"type":"ADDED"}\n',
    '{"type":"DELETED"}\n',
  ]);
});

test("a connection that switches protocols is passed through", async () => {
  await register();
  const response = await subject.server.handle({
    method: "GET",
    path: "/apis/fish.example/v1/namespaces/default/trout/a/exec",
    query: new URLSearchParams(),
    headers: { upgrade: "echo", connection: "Upgrade" },
    body: new Uint8Array(),
    user: { name: "admin", groups: ["system:masters"] },
    signal: new AbortController().signal,
    canUpgrade: true,
  });
  const ours = new PassThrough();
  const received: Buffer[] = [];

  expect(response.status).toBe(101);
  const socket = Object.assign(ours, {});
  const end = response.upgrade?.(socket, Buffer.alloc(0));
  ours.on("data", (chunk: Buffer) => received.push(chunk));
  await expect.poll(() => Buffer.concat(received).toString()).toContain("hello");
  end?.();
});

describe("discovery", () => {
  test("has the group by its priority, with its resources", async () => {
    await register();
    await subject.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", makeDefinition());

    const { body: groups } = await subject.request("GET", "/apis");
    const { body: group } = await subject.request("GET", "/apis/fish.example");
    const { text: resources } = await textOf("/apis/fish.example/v1");
    const { body: aggregated } = await subject.request("GET", "/apis", undefined, AGGREGATED);

    const names = (groups.groups as JsonObject[]).map(({ name }) => name);
    expect(names.slice(-2)).toEqual(["fish.example", "example.com"]);
    expect(group).toMatchObject({ kind: "APIGroup", preferredVersion: { groupVersion: "fish.example/v1" } });
    expect(JSON.parse(resources)).toEqual(RESOURCES);
    const item = (aggregated.items as JsonObject[]).find(
      ({ metadata }) => (metadata as JsonObject).name === "fish.example",
    );
    expect(item?.versions).toEqual([
      {
        version: "v1",
        freshness: "Current",
        resources: [
          {
            resource: "trout",
            responseKind: { group: "fish.example", version: "v1", kind: "Trout" },
            scope: "Namespaced",
            singularResource: "trout",
            verbs: ["get", "list", "delete", "deletecollection"],
            subresources: [
              {
                subresource: "status",
                responseKind: { group: "fish.example", version: "v1", kind: "Trout" },
                verbs: ["get"],
              },
            ],
          },
        ],
      },
    ]);
  });

  test("marks a version as stale when its server stops answering, and requests get 503", async () => {
    await register();
    remote.close();
    answer = (_request, response) => response.writeHead(500).end();
    subject.clock.advance(30_000);
    const condition = await checked("v1.fish.example", "Passed");

    const { status, text } = await textOf("/apis/fish.example/v1/trout");
    const { body } = await subject.request("GET", "/apis", undefined, AGGREGATED);

    expect(condition).toMatchObject({ status: "False", reason: "FailedDiscoveryCheck" });
    expect({ status, text }).toEqual({ status: 503, text: "service unavailable\n" });
    const item = (body.items as JsonObject[]).find(({ metadata }) => (metadata as JsonObject).name === "fish.example");
    expect(item?.versions).toMatchObject([{ freshness: "Stale", resources: [{ resource: "trout" }] }]);
    const { text: page } = await subject.request("GET", "/metrics");
    expect(page).toContain('aggregator_unavailable_apiservice{name="v1.fish.example"} 1');
    expect(page).toContain(
      'aggregator_unavailable_apiservice_total{name="v1.fish.example",reason="FailedDiscoveryCheck"} 1',
    );
  });
});

test("OpenAPI contains the documents of the server", async () => {
  await register();

  const { body: index } = await subject.request("GET", "/openapi/v3");
  const { body: swagger } = await subject.request("GET", "/openapi/v2");

  expect((index.paths as JsonObject)["apis/fish.example/v1"]).toEqual({
    serverRelativeURL: "/openapi/v3/apis/fish.example/v1?hash=A",
  });
  expect(swagger.paths).toHaveProperty(["/apis/fish.example/v1/trout"]);
  expect(swagger.paths).not.toHaveProperty(["/apis/other.example/v1/x"]);
  expect(swagger.definitions).toHaveProperty(["example.Trout"]);
  expect(swagger.definitions).not.toHaveProperty(["example.Unused"]);
});

describe("the condition of an APIService", () => {
  test("names a Service that does not exist", async () => {
    await subject.request("POST", SERVICES, apiService());

    expect(await checked("v1.fish.example")).toMatchObject({
      status: "False",
      reason: "ServiceNotFound",
      message: 'service/fish in "default" is not present',
    });
  });

  test("names a Service without endpoints, and changes soon after they appear", async () => {
    await subject.request("POST", "/api/v1/namespaces/default/services", service({}));
    await subject.request("POST", SERVICES, apiService());
    expect(await checked("v1.fish.example")).toMatchObject({ status: "False", reason: "EndpointsNotFound" });

    const { status } = await subject.request("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "fish-1", labels: { "kubernetes.io/service-name": "fish" } },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready: false } }],
      ports: [{ name: "", port: remote.port }],
    });
    expect(status).toBe(201);

    expect(await checked("v1.fish.example", "EndpointsNotFound")).toMatchObject({
      status: "False",
      reason: "MissingEndpoints",
    });
  });

  test("is False when the certificate is for another name", async () => {
    expect(await register({ caBundle: "", insecureSkipTLSVerify: true })).toMatchObject({ reason: "Passed" });
    await subject.request(
      "PATCH",
      `${SERVICES}/v1.fish.example`,
      { spec: { insecureSkipTLSVerify: false } },
      {
        "content-type": "application/merge-patch+json",
      },
    );

    expect(await checked("v1.fish.example", "Passed")).toMatchObject({
      status: "False",
      reason: "FailedDiscoveryCheck",
    });
  });
});

test("a cluster uses its oldest hundred APIServices, and the condition of the others says so", async () => {
  await subject.request("POST", "/api/v1/namespaces/default/services", service());
  const nameOf = (at: number): string => `v1.fish${String(at).padStart(3, "0")}.example`;
  const create = async (at: number, behind: string): Promise<number> => {
    const group = nameOf(at).slice("v1.".length);
    const spec = { group, service: { namespace: "default", name: behind } };
    return (await subject.request("POST", SERVICES, apiService(spec, nameOf(at)))).status;
  };
  for (let at = 1; at <= 100; at++) expect(await create(at, "none")).toBe(201);
  subject.clock.advance(1_000);
  // The newest, although its name is the first.
  expect(await create(0, "fish")).toBe(201);

  expect(await checked(nameOf(0))).toMatchObject({ status: "False", reason: "TooManyAPIServices" });
  expect(remote.asked.filter(({ path }) => path.includes("fish000"))).toEqual([]);
  expect((await textOf("/apis/fish000.example/v1/trout")).status).toBe(503);

  await subject.request("DELETE", `${SERVICES}/${nameOf(50)}`);
  expect(await checked(nameOf(0), "TooManyAPIServices")).toMatchObject({ reason: "FailedDiscoveryCheck" });
});

test("a deleted namespace waits until the server has deleted its objects", async () => {
  await register();
  const items: JsonObject[] = [{ metadata: { name: "a" } }];
  const former = answer;
  answer = (request, response) => {
    if (!request.path.startsWith("/apis/fish.example/v1/namespaces/lake/trout")) return former(request, response);
    if (request.method !== "DELETE") return json(response, { kind: "TroutList", items });
    json(response, { kind: "Status" });
  };
  await subject.request("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "lake" },
  });
  await subject.request("DELETE", "/api/v1/namespaces/lake");
  const read = async (): Promise<JsonObject> => {
    subject.clock.advance(1_000);
    return (await subject.request("GET", "/api/v1/namespaces/lake")).body;
  };

  await expect
    .poll(async () => JSON.stringify((await read()).status))
    .toContain("Some resources are remaining: trout.fish.example has 1 resource instances");
  items.length = 0;
  await expect.poll(async () => (await read()).code).toBe(404);
});

describe("local APIServices", () => {
  test("exist for everything that the server itself serves", async () => {
    const { body } = await subject.request("GET", SERVICES);

    const names = (body.items as JsonObject[]).map(({ metadata }) => (metadata as JsonObject).name);
    expect(names).toEqual(["v1.", "v1.apiextensions.k8s.io", "v1.apps", "v1.discovery.k8s.io"]);
    expect((body.items as JsonObject[])[0]).toMatchObject({
      spec: { version: "v1", groupPriorityMinimum: 18_000, versionPriority: 1 },
      status: { conditions: [{ type: "Available", status: "True", reason: "Local" }] },
    });
  });

  test("follow CustomResourceDefinitions", async () => {
    await subject.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", makeDefinition());
    await subject.settle();
    const { body } = await subject.request("GET", `${SERVICES}/v1.example.com`);
    await subject.request("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com");
    await subject.settle();
    const { status } = await subject.request("GET", `${SERVICES}/v1.example.com`);

    expect(body).toMatchObject({
      metadata: { labels: { "kube-aggregator.kubernetes.io/automanaged": "true" } },
      status: { conditions: [{ type: "Available", status: "True", reason: "Local" }] },
    });
    expect(status).toBe(404);
  });

  test("come back when they are deleted", async () => {
    await subject.request("DELETE", `${SERVICES}/v1.apps`);
    await subject.settle();

    const { status } = await subject.request("GET", `${SERVICES}/v1.apps`);

    expect(status).toBe(200);
  });
});
