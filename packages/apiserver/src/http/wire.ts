/**
 * One request on the wire, over HTTP/2 or HTTP/1.1: the common interface for the rest of the front end.
 *
 * HTTP/2 uses Node's stream API, which costs a third less than its compatibility API.
 */
import http2 from "node:http2";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Duplex, Readable, Writable } from "node:stream";

/**
 * An import would create a module namespace of `node:http`, for which Node also loads its fetch and WebSocket: 10 MB.
 */
const { STATUS_CODES } = process.getBuiltinModule("node:http");

export type Headers = Readonly<Record<string, string | undefined>>;

export interface Wire {
  readonly method: string;
  /** Path and query, unmodified. */
  readonly url: string;
  readonly headers: Headers;
  /** Alternating names and values, one pair per header line. */
  readonly rawHeaders: readonly string[];
  /** False when the request ended with its headers. */
  readonly hasBody: boolean;
  readonly input: Readable;
  readonly output: Writable;
  readonly closed: boolean;
  /** Sends the headers, with the length of the body where it is known; with `end` no body follows. */
  respond(status: number, headers: Record<string, string | string[]>, length: number | undefined, end: boolean): void;
  /** Set when the client requests a protocol upgrade on this connection. */
  readonly upgrade?: { readonly socket: Duplex; readonly head: Buffer };
  /** Discards the rest of a request that was answered before it arrived completely. */
  discardInput(): void;
  /** Closes the connection of a client that misuses it. Unset where the requests count their chunks themselves. */
  closeConnection?(): void;
  destroy(): void;
}

/** Headers of a single HTTP/1.1 connection. HTTP/2 forbids them, and Node sets its own for HTTP/1.1. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

export function http2Wire(
  stream: http2.ServerHttp2Stream,
  headers: http2.IncomingHttpHeaders,
  rawHeaders: readonly string[],
): Wire {
  // The only header that Node returns as a list is set-cookie, which requests do not have.
  return new Http2Wire(stream, headers as Headers, rawHeaders);
}

class Http2Wire implements Wire {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly rawHeaders: readonly string[];
  readonly hasBody: boolean;
  readonly input: http2.ServerHttp2Stream;
  readonly output: http2.ServerHttp2Stream;

  constructor(stream: http2.ServerHttp2Stream, headers: Headers, rawHeaders: readonly string[]) {
    this.input = stream;
    this.output = stream;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.method = headers[":method"] ?? "";
    this.url = headers[":path"] ?? "/";
    this.hasBody = !stream.endAfterHeaders;
  }

  get closed(): boolean {
    return this.output.closed || this.output.destroyed;
  }

  respond(status: number, headers: Record<string, string | string[]>, length: number | undefined, end: boolean): void {
    const head: http2.OutgoingHttpHeaders = { ":status": status };
    if (length !== undefined) head["content-length"] = length;
    for (const name in headers) if (!HOP_BY_HOP.has(name.toLowerCase())) head[name] = headers[name];
    this.output.respond(head, { endStream: end });
  }

  discardInput(): void {
    // "No error" after a complete response asks the client to stop sending and to keep the response.
    if (this.output.writableFinished) this.output.close(http2.constants.NGHTTP2_NO_ERROR);
    else this.output.once("finish", () => this.output.close(http2.constants.NGHTTP2_NO_ERROR));
  }

  closeConnection(): void {
    this.output.session?.destroy(undefined, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  destroy(): void {
    if (!this.output.destroyed) this.output.close(http2.constants.NGHTTP2_CANCEL);
  }
}

export function http1Wire(request: IncomingMessage, response: ServerResponse): Wire {
  return {
    method: request.method ?? "",
    url: request.url ?? "/",
    headers: request.headers as Headers,
    rawHeaders: request.rawHeaders,
    hasBody: request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0,
    input: request,
    output: response,
    get closed() {
      return response.destroyed || response.writableFinished;
    },
    respond(status, headers, length, end) {
      const head: OutgoingHttpHeaders = {};
      if (length !== undefined) head["content-length"] = length;
      for (const name in headers) if (!HOP_BY_HOP.has(name.toLowerCase())) head[name] = headers[name];
      response.writeHead(status, head);
      if (end) response.end();
      // Node delays the headers until there is a body; a watch may have no events for minutes.
      else if (length === undefined) response.flushHeaders();
    },
    discardInput() {
      // The connection cannot be reused while it has an unread body.
      response.shouldKeepAlive = false;
    },
    destroy: () => void request.socket.destroy(),
  };
}

/**
 * An HTTP/1.1 upgrade request. Node passes its bare socket, so the headers are written manually, and the connection
 * ends after a response that is not the upgrade.
 */
export function upgradeWire(request: IncomingMessage, socket: Duplex, head: Buffer): Wire {
  return {
    method: request.method ?? "",
    url: request.url ?? "/",
    headers: request.headers as Headers,
    rawHeaders: request.rawHeaders,
    hasBody: false,
    input: socket,
    output: socket,
    upgrade: { socket, head },
    get closed() {
      return socket.destroyed || socket.writableEnded;
    },
    respond(status, headers, length, end) {
      const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`];
      for (const [name, value] of Object.entries(headers)) {
        if (status !== 101 && HOP_BY_HOP.has(name.toLowerCase())) continue;
        for (const one of Array.isArray(value) ? value : [value])
          lines.push(`${name}: ${one.replaceAll(/[\r\n]/g, " ")}`);
      }
      if (status !== 101) lines.push("connection: close");
      if (status !== 101 && length !== undefined) lines.push(`content-length: ${length}`);
      socket.write(`${lines.join("\r\n")}\r\n\r\n`);
      if (end && status !== 101) socket.end();
    },
    discardInput() {
      // The connection ends with the response anyway.
    },
    destroy: () => void socket.destroy(),
  };
}
