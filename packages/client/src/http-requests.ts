/** One request, over a stream of an HTTP/2 session or an HTTP/1.1 agent. */
import type { Agent, IncomingHttpHeaders } from "node:http";
import http2 from "node:http2";
import https from "node:https";
import type { Readable } from "node:stream";
import { UnreachableError } from "./errors.ts";
import { codeOf } from "./explain-failure.ts";
import { hostOf, http, portOf } from "./http-sockets.ts";
import type { Session } from "./http2-session.ts";

export interface HttpRequest {
  method: string;
  path: string;
  /** A list is sent as several headers with the same name. */
  headers: Record<string, string | string[]>;
  body?: Uint8Array;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: Readable;
}

/** Thrown when the server certainly did not process the request, so that any request may be sent again. */
export class NotProcessedError extends UnreachableError {}

const NEVER_PROCESSED: ReadonlySet<string | undefined> = new Set([
  "ERR_HTTP2_GOAWAY_SESSION",
  "ERR_HTTP2_INVALID_SESSION",
]);

/** For a session on which a stream was reserved; the stream is released when it closes. */
export function requestHttp2(session: Session, request: HttpRequest, stop: AbortSignal): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let stream: http2.ClientHttp2Stream;
    try {
      stop.throwIfAborted();
      stream = session.http2.request(
        { ...request.headers, ":method": request.method, ":path": request.path },
        { endStream: request.body === undefined },
      );
    } catch (error) {
      session.active--;
      return reject(stop.aborted ? (stop.reason as Error) : asFailure(error));
    }
    let answered = false;
    const cancel = (): void => {
      stream.close(http2.constants.NGHTTP2_CANCEL);
      stream.destroy(stop.reason as Error);
    };
    stop.addEventListener("abort", cancel, { once: true });
    stream.once("response", (head) => {
      answered = true;
      resolve({ status: head[":status"] ?? 0, headers: plainHeaders(head), body: stream });
    });
    stream.on("error", (error) => reject(stop.aborted ? error : asFailure(error, stream.rstCode)));
    stream.once("close", () => {
      session.active--;
      stop.removeEventListener("abort", cancel);
      if (!answered)
        reject(
          new UnreachableError("the connection was lost before a response arrived; try again", {
            mayHaveArrived: true,
          }),
        );
    });
    if (request.body !== undefined) stream.end(request.body);
  });
}

export function requestHttp1(
  server: URL,
  agent: Agent,
  request: HttpRequest,
  stop: AbortSignal,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    if (stop.aborted) return reject(stop.reason as Error);
    const client = server.protocol === "http:" ? http : https;
    const headers =
      request.body === undefined
        ? request.headers
        : { ...request.headers, "content-length": String(request.body.length) };
    const outgoing = client.request({
      host: hostOf(server),
      port: portOf(server),
      agent,
      method: request.method,
      path: request.path,
      headers,
    });
    const cancel = (): void => void outgoing.destroy(stop.reason as Error);
    stop.addEventListener("abort", cancel, { once: true });
    outgoing.once("close", () => stop.removeEventListener("abort", cancel));
    outgoing.once("response", (incoming) =>
      resolve({ status: incoming.statusCode ?? 0, headers: plainHeaders(incoming.headers), body: incoming }),
    );
    outgoing.once("upgrade", (_incoming, socket) => {
      socket.destroy();
      reject(new UnreachableError("the server switched protocols without being asked to"));
    });
    outgoing.on("error", reject);
    outgoing.end(request.body);
  });
}

/** The server did not process streams that it refused, or that came after its GOAWAY. */
function asFailure(error: unknown, rstCode?: number): unknown {
  const untouched = NEVER_PROCESSED.has(codeOf(error)) || rstCode === http2.constants.NGHTTP2_REFUSED_STREAM;
  return untouched ? new NotProcessedError("the server is shutting down", { cause: error }) : error;
}

function plainHeaders(headers: http2.IncomingHttpHeaders | IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (name.startsWith(":") || value === undefined) continue;
    plain[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return plain;
}
