/**
 * One request to the API of a remote member as the user who sent it to the hub. The hub uses the account that may
 * impersonate (`impersonation-controller.ts` grants whom), so that the member's own roles decide. The credentials with
 * which the user authenticated to the hub never leave it.
 */
import { AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP } from "@flotilla/kubernetes";
import type { ConnectHandler, ConnectRequest, ConnectResponse } from "@flotilla/apimachinery";
import { joinSockets, UnreachableError } from "@flotilla/client";
import type { Impersonation, openUpgrade, Transport, UpgradeResponse as UpgradeAnswer } from "@flotilla/client";
import { internalError, unavailable } from "@flotilla/apimachinery";

export interface RemoteCallDependencies {
  cluster: string;
  /** Whether the Cluster names the Secret of an account that may impersonate. */
  mayImpersonate(): boolean;
  /** Requests with the credentials of that account. */
  transport: Pick<Transport, "raw">;
  /** The same for a request that turns its connection into another protocol. */
  upgrade(request: Parameters<typeof openUpgrade>[1], signal: AbortSignal): Promise<UpgradeAnswer>;
}

/** Every user is in one of these, also on the member. */
const IMPLIED_GROUPS: ReadonlySet<string> = new Set([AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP]);
/** Hop-by-hop headers; each connection sets the content length itself. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
  "content-length",
]);

export function createRemoteCall(deps: RemoteCallDependencies): ConnectHandler {
  return async (request, signal) => {
    if (!deps.mayImpersonate()) throw internalError(`the impersonatorSecretRef of cluster ${deps.cluster} is nil`);
    try {
      return request.upgrade === undefined
        ? await forward(deps, request, signal)
        : await upgrade(deps, request, request.upgrade, signal);
    } catch (error) {
      // Without Retry-After: clients would retry ten times, a second apart, before they report an unreachable member.
      if (error instanceof UnreachableError) throw unavailable(`error trying to reach service: ${error.message}`, 0);
      throw error;
    }
  };
}

const pathOf = ({ rawPath, query }: ConnectRequest): string =>
  `/${rawPath}${query.size > 0 ? `?${query.toString()}` : ""}`;

function callerOf({ user }: ConnectRequest): Impersonation {
  const groups = user.groups.filter((group) => !IMPLIED_GROUPS.has(group));
  return { user: user.name, groups: groups.length > 0 ? groups : undefined };
}

async function forward(
  { transport }: RemoteCallDependencies,
  request: ConnectRequest,
  signal: AbortSignal,
): Promise<ConnectResponse> {
  const { method, name, headers, body } = request;
  const answer = await transport.raw(
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
  deps: RemoteCallDependencies,
  request: ConnectRequest,
  protocol: string,
  signal: AbortSignal,
): Promise<ConnectResponse> {
  const headers = { ...passedOn(request.headers), connection: "Upgrade", upgrade: protocol };
  const answer = await deps.upgrade(
    { method: request.method, path: pathOf(request), headers, impersonate: callerOf(request) },
    signal,
  );
  const { upgraded } = answer;
  if (!upgraded) return { status: answer.status, headers: passedOn(answer.headers), body: answer.body };
  return {
    status: answer.status,
    headers: { ...passedOn(answer.headers), connection: "Upgrade", upgrade: answer.headers["upgrade"] ?? protocol },
    body: new Uint8Array(),
    upgrade: (socket, head) => joinSockets(socket, head, upgraded.socket, upgraded.head),
  };
}

function passedOn(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || OF_CONNECTION.has(name) ? [] : [[name, value]],
    ),
  );
}
