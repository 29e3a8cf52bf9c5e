/**
 * The proxy of a Cluster: requests to the API of a member through the hub, as whoever asks the hub. A simulated member is called
 * directly. On any other the hub acts as the caller with the account that may do so (`impersonation-controller.ts` says as whom), so
 * that the member's own roles decide; what the caller proved to the hub who he is with never leaves it.
 */
import type { Duplex } from "node:stream";
import { Cluster } from "../api/index.ts";
import type { ConnectHandler, ConnectRequest, ConnectResponse } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { UnreachableError } from "../client/index.ts";
import type { Impersonation } from "../client/index.ts";
import { internalError, notFound, notImplemented, unavailable } from "../machinery/index.ts";
import type { Lister } from "../runtime/index.ts";
import type { RemoteMember, RemoteMembers } from "./remote-members.ts";

export interface ClusterProxyDependencies {
  hub: string;
  clusters: Lister<Cluster>;
  /** Answers for a simulated member; undefined when it is none. */
  simulated(cluster: DeepReadonly<Cluster>, request: ConnectRequest, signal: AbortSignal): Promise<ConnectResponse> | undefined;
  remote: Pick<RemoteMembers, "of">;
}

/** Everybody is in one of these, also on the member. */
const IMPLIED_GROUPS: ReadonlySet<string> = new Set(["system:authenticated", "system:unauthenticated"]);
/** Credentials, and the names under which front proxies tell a server who sends a request. */
const SECRET: ReadonlySet<string> = new Set(["authorization", "x-remote-user", "x-remote-uid", "x-remote-group", "host"]);
const SECRET_PREFIXES = ["impersonate-", "x-remote-extra-"] as const;
/** They are about a connection, not about the request; the length of a body is the connection's as well. */
const HOP_BY_HOP: ReadonlySet<string> = new Set(["connection", "proxy-connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade", "content-length"]);
const TOKEN_PROTOCOL = "base64url.bearer.authorization.k8s.io.";

export function createClusterProxy({ hub, clusters, simulated, remote }: ClusterProxyDependencies): ConnectHandler {
  return async (request, signal) => {
    if (request.name === "*") throw notImplemented("the proxy of all clusters at once");
    const cluster = clusters.get({ cluster: hub, name: request.name });
    if (!cluster) throw notFound({ group: Cluster.group, resource: Cluster.plural }, request.name);
    const direct = simulated(cluster, request, signal);
    if (direct) return direct;
    if (!cluster.spec.impersonatorSecretRef) throw internalError(`the impersonatorSecretRef of cluster ${request.name} is nil`);
    const member = remote.of(cluster);
    if (typeof member === "string") throw internalError(member);
    try {
      return request.canUpgrade ? await upgrade(member, request, signal) : await forward(member, request, signal);
    } catch (error) {
      if (error instanceof UnreachableError) throw unavailable(`error trying to reach service: ${error.message}`);
      throw error;
    }
  };
}

const pathOf = ({ rawPath, query }: ConnectRequest): string => `/${rawPath}${query.size > 0 ? `?${query}` : ""}`;

function callerOf({ user }: ConnectRequest): Impersonation {
  const groups = user.groups.filter((group) => !IMPLIED_GROUPS.has(group));
  return { user: user.name, ...(groups.length > 0 && { groups }) };
}

async function forward(member: RemoteMember, request: ConnectRequest, signal: AbortSignal): Promise<ConnectResponse> {
  const { method, name, headers, body } = request;
  const answer = await member.asOthers.raw({ method, path: pathOf(request), cluster: name, headers: passedOn(headers), impersonate: callerOf(request), ...(body && body.byteLength > 0 && { body }) }, signal);
  return { status: answer.status, headers: passedOn(answer.headers), body: answer.body };
}

async function upgrade(member: RemoteMember, request: ConnectRequest, signal: AbortSignal): Promise<ConnectResponse> {
  const { headers } = request;
  const asked = { connection: "Upgrade", upgrade: headers["upgrade"] ?? "" };
  const answer = await member.upgradeAsOther({ method: request.method, path: pathOf(request), headers: { ...passedOn(headers), ...asked }, impersonate: callerOf(request) }, signal);
  const { upgraded } = answer;
  if (!upgraded) return { status: answer.status, headers: passedOn(answer.headers), body: answer.body };
  return {
    status: answer.status,
    headers: { ...passedOn(answer.headers), connection: "Upgrade", upgrade: answer.headers["upgrade"] ?? asked.upgrade },
    body: new Uint8Array(),
    upgrade: (socket, head) => join(socket, head, upgraded.socket, upgraded.head),
  };
}

/** Two connections become one. */
function join(ours: Duplex, oursHead: Buffer, theirs: Duplex, theirsHead: Buffer): () => void {
  const end = (): void => {
    ours.destroy();
    theirs.destroy();
  };
  for (const socket of [ours, theirs]) socket.on("error", end).once("close", end);
  if (theirsHead.length > 0) ours.write(theirsHead);
  if (oursHead.length > 0) theirs.write(oursHead);
  ours.pipe(theirs);
  theirs.pipe(ours);
  return end;
}

function passedOn(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const named = new Set((headers["connection"] ?? "").split(",").map((name) => name.trim().toLowerCase()));
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const isDropped = value === undefined || name.startsWith(":") || SECRET.has(name) || HOP_BY_HOP.has(name) || named.has(name) || SECRET_PREFIXES.some((prefix) => name.startsWith(prefix));
      return isDropped ? [] : [[name, name === "sec-websocket-protocol" ? withoutToken(value) : value]];
    }),
  );
}

/** Browsers cannot set headers on a WebSocket, so they put their token among the protocols. */
function withoutToken(protocols: string): string {
  return protocols
    .split(",")
    .map((protocol) => protocol.trim())
    .filter((protocol) => !protocol.startsWith(TOKEN_PROTOCOL))
    .join(", ");
}
