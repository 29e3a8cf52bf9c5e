/** A version of a group that another server answers for: how it is reached, and what is known of it. */
import { availabilityOf } from "@flotilla/kubernetes";
import type { APIService, ApiServiceCondition } from "@flotilla/kubernetes";
import { tooManyRequests } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { createHttpConnection, openUpgrade } from "@flotilla/client";
import type { HttpConnection, HttpResponse, TlsOptions, UpgradeResponse } from "@flotilla/client";
import { createClusterReader } from "../clusters/cluster-reader.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import type { BlockedAddresses } from "../clusters/tenant-addresses.ts";
import { serviceAddress } from "../clusters/service-address.ts";
import type { UserInfo } from "../request/user-info.ts";
import type { ClientIdentity } from "../connect/dial.ts";
import { identityHeaders } from "./identity-headers.ts";
import type { DiscoveredVersion } from "./remote-discovery.ts";

/** Connections of one service to different addresses; a Service with more endpoints uses them in turn. */
const MAX_CONNECTIONS = 4;
/** Requests to one service at a time, watches included. */
const MAX_IN_FLIGHT = 1_000;

export interface RemoteRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: Readonly<Record<string, string | undefined>>;
  body?: Uint8Array | undefined;
}

export interface RemoteService {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly cluster: LogicalCluster;
  readonly spec: NonNullable<DeepReadonly<APIService>["spec"]>;
  /** False above the number of APIServices that a cluster may have: it is not available, and never called. */
  readonly isUsed: boolean;
  /** As it was found last; unset until it was checked. */
  condition: DeepReadonly<ApiServiceCondition> | undefined;
  /** What it serves, as it was read last. */
  discovered: DiscoveredVersion | undefined;
  /** The URL of its OpenAPI v3 document, with the hash. */
  openApiUrl: string | undefined;
  /** Rejects when no response arrives. The body must be read or destroyed. */
  send(request: RemoteRequest, user: UserInfo, stop: AbortSignal): Promise<HttpResponse>;
  upgrade(request: RemoteRequest, user: UserInfo, stop: AbortSignal): Promise<UpgradeResponse>;
  close(): void;
}

export interface RemoteDependencies {
  store: ObjectStore;
  clock: Clock;
  /** The certificate with which aggregated servers are called on behalf of a cluster; without it they see no user. */
  identityOf?(cluster: LogicalCluster): ClientIdentity;
  blockedAddresses?: BlockedAddresses | undefined;
  /** See `ApiServerOptions`. */
  addressAnnotation?: string | undefined;
}

export function createRemoteService(
  cluster: LogicalCluster,
  { metadata, spec, status }: DeepReadonly<APIService>,
  { store, clock, identityOf, blockedAddresses, addressAnnotation }: RemoteDependencies,
  isUsed = true,
): RemoteService {
  const { group = "", version = "", service = {}, caBundle = "", insecureSkipTLSVerify = false } = spec ?? {};
  const { namespace = "", name = "", port = 443 } = service;
  const serverName = `${name}.${namespace}.svc`;
  const connections = new Map<string, HttpConnection>();
  let inFlight = 0;

  const tls = (): TlsOptions => {
    return {
      ca: caBundle === "" ? undefined : Buffer.from(caBundle, "base64").toString(),
      ...identityOf?.(cluster),
      insecure: insecureSkipTLSVerify,
      serverName,
      blocked: blockedAddresses?.(cluster.name),
    };
  };
  const serverNow = (): URL => {
    const { host, port: at } = serviceAddress(
      createClusterReader(store, cluster),
      { namespace, name, port },
      addressAnnotation,
    );
    return new URL(`https://${host.includes(":") ? `[${host}]` : host}:${at}`);
  };
  const connectionTo = (server: URL): HttpConnection => {
    const known = connections.get(server.host);
    if (known) return known;
    const [oldest] = connections.keys();
    if (connections.size >= MAX_CONNECTIONS && oldest !== undefined) {
      void connections.get(oldest)?.close();
      connections.delete(oldest);
    }
    const connection = createHttpConnection({ servers: [server], tls: tls(), clock });
    connections.set(server.host, connection);
    return connection;
  };
  /** Counts a request until `end` is called. */
  const begin = (): (() => void) => {
    if (inFlight >= MAX_IN_FLIGHT)
      throw tooManyRequests(`${MAX_IN_FLIGHT} requests to the service of ${metadata.name} are in progress`);
    inFlight++;
    let isOver = false;
    return () => {
      if (!isOver) inFlight--;
      isOver = true;
    };
  };
  const headersOf = (headers: RemoteRequest["headers"], user: UserInfo): Record<string, string | string[]> => {
    const sent: Record<string, string | string[]> = {};
    for (const [header, value] of Object.entries(headers)) if (value !== undefined) sent[header] = value;
    return { ...sent, host: `${serverName}:${port}`, ...identityHeaders(user) };
  };

  return {
    name: metadata.name,
    group,
    version,
    cluster,
    isUsed,
    spec: spec ?? { groupPriorityMinimum: 0, versionPriority: 0 },
    condition: availabilityOf({ status } as DeepReadonly<APIService>),
    discovered: undefined,
    openApiUrl: undefined,
    async send({ method, path, headers, body }, user, stop) {
      const end = begin();
      try {
        const sent = { method, path, headers: headersOf(headers, user), body };
        const response = await connectionTo(serverNow()).open(sent, stop, identityOf?.(cluster));
        response.body.once("close", end);
        return response;
      } catch (error) {
        end();
        throw error;
      }
    },
    async upgrade({ method, path, headers }, user, stop) {
      const end = begin();
      try {
        const response = await openUpgrade(
          { server: serverNow(), ...tls(), clock },
          { method, path, headers: headersOf(headers, user) },
          stop,
        );
        if (response.upgraded) response.upgraded.socket.once("close", end);
        else end();
        return response;
      } catch (error) {
        end();
        throw error;
      }
    },
    close() {
      for (const connection of connections.values()) void connection.close();
      connections.clear();
    },
  };
}

export const isAvailable = ({ condition }: RemoteService): boolean => condition?.status === "True";
