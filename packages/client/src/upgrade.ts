/**
 * Requests that upgrade their connection to another protocol: exec, attach and port-forward use WebSockets or SPDY.
 * Only HTTP/1.1 can do that, so each has its own connection, through the same proxy and with the same TLS settings as
 * all others.
 */
import type { IncomingMessage } from "node:http";
import https from "node:https";
import type { Duplex, Readable } from "node:stream";
import { systemClock, defined } from "@flotilla/base";
import { explainFailure } from "./explain-failure.ts";
import { createAgent, http } from "./http-sockets.ts";
import type { Http2TransportOptions } from "./http2-transport.ts";
import { impersonationHeaders } from "./impersonation.ts";
import type { Impersonation } from "./impersonation.ts";

export interface UpgradeRequest {
  method: string;
  /** Path and query under the server's URL. */
  path: string;
  /** Including the upgrade headers. */
  headers: Readonly<Record<string, string | string[]>>;
  impersonate?: Impersonation;
  /** Of a request that may be answered without an upgrade. */
  body?: Uint8Array | undefined;
}

export interface UpgradeResponse {
  status: number;
  headers: Record<string, string>;
  /** The connection in the new protocol, and its first bytes; unset when the server rejected the upgrade. */
  upgraded?: { socket: Duplex; head: Buffer };
  /** The server's response instead. It must be read or destroyed. */
  body: Readable;
}

/** Rejects with `UnreachableError` when no response arrived. */
export async function openUpgrade(
  options: Omit<Http2TransportOptions, "cluster">,
  request: UpgradeRequest,
  stop: AbortSignal,
): Promise<UpgradeResponse> {
  const { server, credentials, clock = systemClock } = options;
  const token =
    (await credentials?.current())?.token ??
    (typeof options.token === "function" ? await options.token() : options.token);
  const agent = createAgent(
    server,
    options,
    clock,
    options.proxy && { url: options.proxy, headers: options.proxyHeaders },
  );
  const headers = {
    host: server.host,
    "user-agent": options.userAgent ?? "flotilla",
    ...request.headers,
    ...defined({ authorization: token === undefined ? undefined : `Bearer ${token}` }),
    ...impersonationHeaders(request.impersonate),
  };
  const path = server.pathname.replace(/\/+$/, "") + request.path;
  const port = server.port === "" ? undefined : Number(server.port);
  return new Promise((resolve, reject) => {
    const sent = (server.protocol === "http:" ? http : https).request({
      agent,
      host: server.hostname.replace(/^\[|\]$/g, ""),
      port,
      method: request.method,
      path,
      headers,
      signal: stop,
    });
    sent.once("upgrade", (response, socket, head) => resolve({ ...answerOf(response), upgraded: { socket, head } }));
    sent.once("response", (response) => resolve(answerOf(response)));
    sent.once("error", (error) =>
      reject(
        stop.aborted
          ? stop.reason
          : explainFailure(`${request.method} ${request.path.split("?", 1)[0]} at ${server.host}`, error),
      ),
    );
    sent.once("close", () => agent.destroy());
    sent.end(request.body);
  });
}

function answerOf(response: IncomingMessage): UpgradeResponse {
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
  return { status: response.statusCode ?? 502, headers, body: response };
}

/** Pipes two connections together. The returned function ends both. */
export function joinSockets(ours: Duplex, oursHead: Buffer, theirs: Duplex, theirsHead: Buffer): () => void {
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
