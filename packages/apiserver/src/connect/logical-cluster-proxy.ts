/** Requests to a logical cluster of this server that come through another cluster, with the caller's identity there. */
import type { ConnectRequest, ConnectResponse } from "@flotilla/apimachinery";
import { bodyOf } from "../request/byte-streams.ts";
import type { ApiRequest, ApiResponse } from "../request/request.ts";

/** The roles of the logical cluster determine what the caller may do. */
export async function callLogicalCluster(
  handle: (request: ApiRequest) => Promise<ApiResponse>,
  cluster: string,
  request: ConnectRequest,
  signal: AbortSignal,
): Promise<ConnectResponse> {
  const { method, rawPath, query, headers, user, upgrade, body = new Uint8Array() } = request;
  const response = await handle({
    method,
    path: `/clusters/${encodeURIComponent(cluster)}/${rawPath}`,
    query,
    headers: upgrade === undefined ? headers : { ...headers, connection: "Upgrade", upgrade },
    body,
    user,
    signal,
    canUpgrade: upgrade !== undefined,
  });
  const whole = response.body instanceof Uint8Array ? response.body : undefined;
  return {
    status: response.status,
    headers: response.headers,
    body: whole ?? bodyOf(response.body, signal),
    upgrade: response.upgrade,
  };
}
