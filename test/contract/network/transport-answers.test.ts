/** Requests for which a transport in the process of the server could answer differently from one over HTTP. */
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createAuthenticator, createHttpServer } from "@flotilla/apiserver";
import { ApiError, createCertificateAuthority, HUB } from "@flotilla/apimachinery";
import type { AdmissionStep } from "@flotilla/apimachinery";
import { silentLog, systemClock } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { createHttp2Transport } from "@flotilla/client";
import type { ResourcePath, Transport, TransportRequest, TransportWatchEvent } from "@flotilla/client";
import { APIService, ConfigMap, EndpointSlice, Endpoints, Service } from "@flotilla/kubernetes";
import { startAggregatedServer } from "@flotilla/testing/aggregated-server.ts";
import type { AggregatedServer } from "@flotilla/testing/aggregated-server.ts";
import { ADDRESS_ANNOTATION, ADMIN, createTestServer, PROFILE } from "@flotilla/testing/api-server.ts";
import type { TestServer } from "@flotilla/testing/api-server.ts";

const CHECKED_WITHIN = { timeout: 8_000 };
const TROUT: ResourcePath = { cluster: HUB, group: "fish.example", version: "v1", resource: "trout" };
const MAPS: ResourcePath = { cluster: HUB, group: "", version: "v1", resource: "configmaps", namespace: "default" };
const OBJECT = { apiVersion: "fish.example/v1", kind: "Trout", metadata: { name: "a", namespace: "default" } };

let subject: TestServer;
let remote: AggregatedServer;
const ends: (() => Promise<void> | void)[] = [];
const transports: Record<string, Transport> = {};

/** Admission of this ConfigMap never ends. */
const endless: AdmissionStep<ConfigMap> = {
  name: "endless",
  for: ConfigMap,
  on: ["CREATE"],
  validate: ({ object }) => (object?.metadata.name === "endless" ? new Promise(() => {}) : []),
};

beforeAll(async () => {
  const authority = await createCertificateAuthority({ clock: systemClock });
  remote = await startAggregatedServer({ clientCa: authority.certificate, names: ["fish.default.svc"], answer });
  subject = await createTestServer({
    profiles: {
      hub: { ...PROFILE, builtIns: [...PROFILE.builtIns, APIService, Service, EndpointSlice, Endpoints] },
    },
    admissions: [endless],
  });
  const front = createHttpServer({
    handle: (request) => subject.server.handle(request),
    authenticator: createAuthenticator({ clusterPrefix: "example.com:cluster:" }),
    tls: { ...(await authority.issueServing([])), clientCa: authority.certificate },
    log: silentLog,
  });
  const { certificate, key } = await authority.issueClient({
    commonName: ADMIN.name,
    organizations: ["system:masters"],
  });
  const { port } = await front.listen(0);
  transports["direct calls"] = subject.server.transport(ADMIN);
  transports["HTTP/2"] = createHttp2Transport({
    server: new URL(`https://127.0.0.1:${port}`),
    cluster: { root: HUB },
    ca: authority.certificate,
    cert: certificate,
    key,
  });
  ends.push(
    ...Object.values(transports).map((transport) => () => transport.close()),
    () => front.close(),
    () => subject.server.close(),
    () => remote.close(),
  );
  await register();
});
afterAll(async () => {
  for (const end of ends) await end();
});

function answer({ method, path }: { method: string; path: string }, response: ServerResponse): void {
  const send = (body: Json, status = 200): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(body)}\n`);
  if (path === "/apis/fish.example/v1")
    return send({ kind: "APIResourceList", apiVersion: "v1", groupVersion: "fish.example/v1", resources: [] });
  if (path.includes("watch=true")) return send({ type: "ADDED", object: OBJECT });
  if (path.endsWith("/trout/missing"))
    return send({ kind: "Status", status: "Failure", code: 404, reason: "NotFound", message: "no such trout" }, 404);
  if (path.startsWith("/apis/fish.example/v1/namespaces/default/trout/a") || method === "POST") return send(OBJECT);
  if (path.startsWith("/apis/fish.example/v1/")) return send({ kind: "TroutList", metadata: {}, items: [OBJECT] });
  send({ kind: "Status", code: 404 }, 404);
}

async function register(): Promise<void> {
  const create = async (path: string, body: JsonObject): Promise<void> => {
    expect((await subject.request("POST", path, body)).status).toBe(201);
  };
  await create("/api/v1/namespaces/default/services", {
    metadata: { name: "fish", annotations: { [ADDRESS_ANNOTATION]: `127.0.0.1:${remote.port}` } },
    spec: { ports: [{ port: 443 }] },
  });
  await create("/apis/apiregistration.k8s.io/v1/apiservices", {
    metadata: { name: "v1.fish.example" },
    spec: {
      group: "fish.example",
      version: "v1",
      groupPriorityMinimum: 2000,
      versionPriority: 10,
      service: { namespace: "default", name: "fish" },
      caBundle: remote.caBundle,
    },
  });
  await vi.waitFor(async () => {
    subject.clock.advance(200);
    const { body } = await subject.request("GET", "/apis/apiregistration.k8s.io/v1/apiservices/v1.fish.example");
    expect(body.status).toMatchObject({ conditions: [{ type: "Available", status: "True" }] });
  }, CHECKED_WITHIN);
}

async function statusOf(work: Promise<JsonObject>): Promise<Json> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { code: error.status.code ?? 0, message: error.message };
  }
}

const requests: Record<string, { request: TransportRequest; want: Json }> = {
  "a list of an aggregated kind": {
    request: { verb: "list", path: TROUT },
    want: { kind: "TroutList", metadata: {}, items: [OBJECT] },
  },
  "an object of an aggregated kind": {
    request: { verb: "get", path: { ...TROUT, namespace: "default", name: "a" } },
    want: OBJECT,
  },
  "a created object of an aggregated kind": {
    request: { verb: "create", path: { ...TROUT, namespace: "default" }, body: OBJECT },
    want: OBJECT,
  },
  "the failure of an aggregated server": {
    request: { verb: "get", path: { ...TROUT, namespace: "default", name: "missing" } },
    want: { code: 404, message: "no such trout" },
  },
  "the name of an object with a percent sign": {
    request: { verb: "get", path: { ...MAPS, name: "a%b" } },
    want: { code: 400, message: `Name parameter invalid: "a%b": may not contain '%'` },
  },
  "a timeout that is not a duration": {
    request: { verb: "list", path: MAPS, query: { timeout: "soon" } },
    want: {
      code: 400,
      message: 'invalid timeout specified in the request URL - time: invalid duration "soon"',
    },
  },
};

for (const via of ["direct calls", "HTTP/2"])
  describe(`over ${via}`, () => {
    const transport = (): Transport => {
      const found = transports[via];
      if (!found) throw new Error(`no transport ${via}`);
      return found;
    };

    for (const [name, { request, want }] of Object.entries(requests))
      test(`answers ${name} alike`, async () => {
        expect(await statusOf(transport().send(request))).toEqual(want);
      });

    test("answers a watch of an aggregated kind alike", async () => {
      const events: TransportWatchEvent[] = [];

      for await (const batch of transport().watch({ path: TROUT }, new AbortController().signal)) events.push(...batch);

      expect(events).toEqual([{ type: "ADDED", object: OBJECT }]);
    });

    test("ends a request at the timeout that it names", async () => {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "endless", namespace: "default" } };
      let answered: Json | undefined;

      const sending = statusOf(transport().send({ verb: "create", path: MAPS, query: { timeout: "5s" }, body })).then(
        (status) => (answered = status),
      );
      await expect
        .poll(() => {
          subject.clock.advance(1_000);
          return answered;
        }, CHECKED_WITHIN)
        .toMatchObject({ code: 504 });
      await sending;
    });
  });
