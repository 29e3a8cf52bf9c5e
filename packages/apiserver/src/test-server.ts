/** A server on a memory store for the tests in this folder: a fixed clock, one seed, frozen results. */
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  Pod,
  ReplicaSet,
  Secret,
  kubernetesAdmissions,
} from "@flotilla/kubernetes";
import type { AnyStep, Kind, KubernetesObject } from "@flotilla/apimachinery";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import type { FakeClock, JsonObject } from "@flotilla/base";
import type { Transport } from "@flotilla/client";
import { createCache } from "./store/create-cache.ts";
import { createMemoryEngine } from "./store/memory-engine.ts";
import type { Cache } from "./store/cache.ts";
import type { Engine } from "./store/engine.ts";
import type { ConnectBackend } from "./connect/backend.ts";
import type { Profile } from "./clusters/profiles.ts";
import { bodyOf } from "./request/byte-streams.ts";
import type { ApiResponse } from "./request/request.ts";
import type { UserInfo } from "./request/user-info.ts";
import { createApiServer } from "./server.ts";
import type { ApiServer, ApiServerOptions } from "./server.ts";

/** The annotation of Services that this server reads addresses from. */
export const ADDRESS_ANNOTATION = "example.com/address";
/** The group that this server trusts as its controllers. */
export const CONTROLLERS = "system:flotilla";
const CONTROLLER: UserInfo = {
  name: `${CONTROLLERS}:test`,
  groups: [CONTROLLERS, "system:masters", "system:authenticated"],
};
export const ADMIN: UserInfo = { name: "admin", groups: ["system:masters", "system:authenticated"] };

const namespace = (name: string): KubernetesObject => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const BUILT_INS: readonly Kind[] = [
  Namespace,
  ConfigMap,
  Secret,
  Pod,
  Deployment,
  ReplicaSet,
  CustomResourceDefinition,
];
export const PROFILE: Profile = {
  builtIns: BUILT_INS,
  customs: [],
  objects: [namespace("default"), namespace("kube-system")],
};

export interface Answered {
  status: number;
  headers: ApiResponse["headers"];
  body: JsonObject;
  text: string;
  response: ApiResponse;
}

export interface TestServer {
  server: ApiServer;
  cache: Cache;
  engine: Engine;
  clock: FakeClock;
  /** Direct calls as a controller of the server. */
  transport: Transport;
  /** Sends one request to the hub, or to the cluster in the path. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>;
  /** Resolves when the server's background work is done. */
  settle(): Promise<void>;
}

export interface TestServerOptions {
  profiles?: Record<string, Profile>;
  clusters?: Record<string, string>;
  admissions?: readonly AnyStep[];
  engine?: Engine;
  user?: UserInfo;
  connect?: ConnectBackend;
  serviceAccounts?: ApiServerOptions["serviceAccounts"];
  controllers?: ApiServerOptions["controllers"];
  workloads?: ApiServerOptions["workloads"];
  takesWrites?(): boolean;
  storeQuotaBytes?: number;
  maxSeats?: number;
  isExposed?: boolean;
  frontProxy?: ApiServerOptions["frontProxy"];
  auditor?: ApiServerOptions["auditor"];
  externalTokens?: ApiServerOptions["externalTokens"];
  authorization?: ApiServerOptions["authorization"];
}

export async function createTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const clock = createFakeClock();
  const engine = options.engine ?? createMemoryEngine();
  const cache = await createCache(engine);
  const server = await createApiServer({
    cache,
    controllerGroup: CONTROLLERS,
    maxSeats: options.maxSeats,
    addressAnnotation: ADDRESS_ANNOTATION,
    isExposed: options.isExposed,
    clock,
    random: createSeededRandom(1),
    log: silentLog,
    admissions: options.admissions ?? kubernetesAdmissions,
    profiles: options.profiles ?? { hub: PROFILE },
    freeze: true,
    connect: options.connect,
    serviceAccounts: options.serviceAccounts,
    controllers: options.controllers,
    workloads: options.workloads,
    takesWrites: options.takesWrites,
    storeQuotaBytes: options.storeQuotaBytes,
    frontProxy: options.frontProxy,
    auditor: options.auditor,
    externalTokens: options.externalTokens,
    authorization: options.authorization,
  });
  for (const [name, profile] of Object.entries(options.clusters ?? { hub: "hub" }))
    await server.addCluster(name, profile);
  const user = options.user ?? ADMIN;
  const signal = new AbortController().signal;

  return {
    server,
    cache,
    engine,
    clock,
    transport: server.transport(options.user ?? CONTROLLER),
    async request(method, path, body, headers = {}) {
      const [pathname = "", search = ""] = path.split("?");
      const bytes =
        body === undefined
          ? new Uint8Array()
          : new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
      const response = await server.handle({
        method,
        path: pathname,
        query: new URLSearchParams(search),
        headers: { "user-agent": "test/1", ...headers },
        body: bytes,
        user,
        signal,
      });
      const text = response.isFinite ? await streamedText(response.body) : textOfBody(response.body);
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: text.startsWith("{") ? (JSON.parse(text) as JsonObject) : {},
        response,
      };
    },
    async settle() {
      do await new Promise((resolve) => setImmediate(resolve));
      while (!server.isQuiet());
    },
  };
}

/** Holds back the first commit of a matching key, and those after it, until it is released. */
export function holdCommits(
  engine: Engine,
  matches: (key: string) => boolean,
): { reached: Promise<void>; release(): void } {
  const commit = engine.commit.bind(engine);
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  engine.commit = async (write) => {
    if (matches(write.key)) {
      reached.resolve();
      await released.promise;
    }
    return commit(write);
  };
  return { reached: reached.promise, release: released.resolve };
}

/** Runs everything that does not wait for a held commit. */
export async function settleTicks(): Promise<void> {
  for (let tick = 0; tick < 20; tick++) await new Promise((resolve) => setImmediate(resolve));
}

/** A long list, which is sent in parts. */
async function streamedText(body: ApiResponse["body"]): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bodyOf(body, new AbortController().signal)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function textOfBody(body: ApiResponse["body"]): string {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  return Array.isArray(body) ? Buffer.concat(body as readonly Uint8Array[]).toString() : "";
}

export const MERGE = { "content-type": "application/merge-patch+json" };

export function makeConfigMap(name: string, extra: JsonObject = {}): JsonObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, ...(extra.metadata as JsonObject | undefined) },
    data: { a: "1" },
  };
}

export function makeDeployment(name: string): JsonObject {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
    },
  };
}

/** A CRD of `Widget` with a default, a status and a scale. */
export function makeDefinition(spec: JsonObject = {}): JsonObject {
  const schema = {
    type: "object",
    properties: {
      spec: { type: "object", properties: { size: { type: "integer", default: 3 }, replicas: { type: "integer" } } },
      status: { type: "object", properties: { phase: { type: "string" }, replicas: { type: "integer" } } },
    },
  };
  return {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget", shortNames: ["wd"] },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
        },
      ],
      ...spec,
    },
  };
}
