/**
 * A client's request to a version that an aggregated server answers for. The server learns who asks, and nothing that
 * would let it act as the client: no token, no impersonation headers.
 */
import type { Duplex } from "node:stream";
import { ApiError, badRequest } from "@flotilla/apimachinery";
import { joinSockets } from "@flotilla/client";
import { passedOn, sentHeaders } from "../connect/proxied-headers.ts";
import { streamOf } from "../request/byte-streams.ts";
import type { ApiRequest, ApiResponse } from "../request/request.ts";
import type { UserInfo } from "../request/user-info.ts";
import { textResponse } from "../request/respond.ts";
import { problemOf } from "./remote-calls.ts";
import { isAvailable } from "./remote-service.ts";
import type { RemoteRequest, RemoteService } from "./remote-service.ts";

/** `path` is the path in the cluster, still percent-encoded. */
export async function proxyResponse(
  remote: RemoteService,
  request: Pick<ApiRequest, "method" | "query" | "headers" | "body" | "signal" | "canUpgrade">,
  path: string,
  user: UserInfo,
): Promise<ApiResponse> {
  checkPath(path);
  if (!isAvailable(remote)) return textResponse(503, "service unavailable\n");
  const { method, query, headers, body, signal, canUpgrade = false } = request;
  const search = query.toString();
  const sent: RemoteRequest = {
    method,
    path: search === "" ? path : `${path}?${search}`,
    headers: sentHeaders(headers),
    body: body.byteLength > 0 ? body : undefined,
  };
  try {
    const protocol = canUpgrade ? headers.upgrade : undefined;
    if (protocol !== undefined) return await upgraded(remote, sent, protocol, user, signal);
    const response = await remote.send(sent, user, signal);
    return { status: response.status, headers: passedOn(response.headers), body: streamOf(response.body) };
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) throw error;
    return textResponse(503, `error trying to reach service: ${problemOf(error)}\n`);
  }
}

async function upgraded(
  remote: RemoteService,
  sent: RemoteRequest,
  protocol: string,
  user: UserInfo,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const headers = { ...sent.headers, connection: "Upgrade", upgrade: protocol };
  const answer = await remote.upgrade({ ...sent, headers }, user, signal);
  const { upgraded: theirs } = answer;
  if (!theirs) return { status: answer.status, headers: passedOn(answer.headers), body: streamOf(answer.body) };
  return {
    status: answer.status,
    headers: { ...passedOn(answer.headers), connection: "Upgrade", upgrade: answer.headers["upgrade"] ?? protocol },
    body: new Uint8Array(),
    upgrade: (socket: Duplex, head: Buffer) => joinSockets(socket, head, theirs.socket, theirs.head),
  };
}

/** A server that resolves `..` would otherwise answer for paths outside the group. */
function checkPath(path: string): void {
  for (const segment of path.split("/")) {
    const plain = segment.replaceAll(/%2e/gi, ".");
    if (plain === "." || plain === "..") throw badRequest("the path of an aggregated API must not contain . or ..");
  }
}
