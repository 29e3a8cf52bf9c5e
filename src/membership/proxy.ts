/**
 * The proxy of a Cluster: requests to the API of a member through the hub, as whoever asks the hub. A simulated member
 * is called directly. On any other the hub acts as the caller with the account that may do so
 * (`impersonation-controller.ts` says as whom), so that the member's own roles decide; what the caller proved to the
 * hub who he is with never leaves it.
 */
import type { Duplex } from "node:stream";
import { Cluster } from "../api/index.ts";
import type { ConnectHandler, ConnectRequest, ConnectResponse } from "../api/index.ts";
import type { Clock, DeepReadonly } from "../base/index.ts";
import { UnreachableError } from "../client/index.ts";
import type { Impersonation } from "../client/index.ts";
import { internalError, notFound, unavailable } from "../machinery/index.ts";
import type { Lister } from "../runtime/index.ts";
import { createAllClustersProxy } from "./all-clusters-proxy.ts";
import type { RemoteMember, RemoteMembers } from "./remote-members.ts";

export interface ClusterProxyDependencies {
  hub: string;
  clusters: Lister<Cluster>;
  /** Answers for a simulated member; undefined when it is none. */
  simulated(
    cluster: DeepReadonly<Cluster>,
    request: ConnectRequest,
    signal: AbortSignal,
  ): Promise<ConnectResponse> | undefined;
  remote: Pick<RemoteMembers, "of">;
  /** Answers for the hub itself, as whoever asks. */
  askHub: ConnectHandler;
  clock: Clock;
}

/** Stands for the name of a Cluster: all of them. */
const ALL = "*";

/** Everybody is in one of these, also on the member. */
const IMPLIED_GROUPS: ReadonlySet<string> = new Set(["system:authenticated", "system:unauthenticated"]);
/** They are about one connection and not about what it carries; how long a body is, each connection says for itself. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
  "content-length",
]);

export function createClusterProxy({
  hub,
  clusters,
  simulated,
  remote,
  askHub,
  clock,
}: ClusterProxyDependencies): ConnectHandler {
  const one: ConnectHandler = async (request, signal) => {
    const cluster = clusters.get({ cluster: hub, name: request.name });
    if (!cluster) throw notFound({ group: Cluster.group, resource: Cluster.plural }, request.name);
    const direct = simulated(cluster, request, signal);
    if (direct) return direct;
    if (!cluster.spec.impersonatorSecretRef)
      throw internalError(`the impersonatorSecretRef of cluster ${request.name} is nil`);
    const member = remote.of(cluster);
    if (typeof member === "string") throw internalError(member);
    try {
      return request.upgrade === undefined
        ? await forward(member, request, signal)
        : await upgrade(member, request, request.upgrade, signal);
    } catch (error) {
      // Without a time to come back after: clients would ask ten times, a second apart, before they say that a member
      // is away.
      if (error instanceof UnreachableError) throw unavailable(`error trying to reach service: ${error.message}`, 0);
      throw error;
    }
  };
  const all = createAllClustersProxy({ clusters: () => clusters.list({ cluster: hub }), ask: one, askHub, clock });
  return (request, signal) => (request.name === ALL ? all(request, signal) : one(request, signal));
}

const pathOf = ({ rawPath, query }: ConnectRequest): string =>
  `/${rawPath}${query.size > 0 ? `?${query.toString()}` : ""}`;

function callerOf({ user }: ConnectRequest): Impersonation {
  const groups = user.groups.filter((group) => !IMPLIED_GROUPS.has(group));
  return { user: user.name, groups: groups.length > 0 ? groups : undefined };
}

async function forward(member: RemoteMember, request: ConnectRequest, signal: AbortSignal): Promise<ConnectResponse> {
  const { method, name, headers, body } = request;
  const answer = await member.asOthers.raw(
    {
      method,
      path: pathOf(request),
      cluster: name,
      headers: passedOn(headers),
      impersonate: callerOf(request),
      body: body && body.byteLength > 0 ? body : undefined,
    },
    signal,
  );
  return { status: answer.status, headers: passedOn(answer.headers), body: answer.body };
}

async function upgrade(
  member: RemoteMember,
  request: ConnectRequest,
  protocol: string,
  signal: AbortSignal,
): Promise<ConnectResponse> {
  const headers = { ...passedOn(request.headers), connection: "Upgrade", upgrade: protocol };
  const answer = await member.upgradeAsOther(
    { method: request.method, path: pathOf(request), headers, impersonate: callerOf(request) },
    signal,
  );
  const { upgraded } = answer;
  if (!upgraded) return { status: answer.status, headers: passedOn(answer.headers), body: answer.body };
  return {
    status: answer.status,
    headers: { ...passedOn(answer.headers), connection: "Upgrade", upgrade: answer.headers["upgrade"] ?? protocol },
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
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || OF_CONNECTION.has(name) ? [] : [[name, value]],
    ),
  );
}
