/**
 * A minimal Kubernetes API client that exposes the raw status, headers and bytes, over HTTP/2 or HTTP/1.1.
 *
 * It does not use Flotilla's own client: a bug shared by both sides would not be noticed.
 */
import { defined } from "@flotilla/base";
import type { IncomingMessage } from "node:http";
import http2 from "node:http2";
import https from "node:https";
import { eventStream } from "./event-stream.ts";
import type { EventStream, Flow, Receiver } from "./event-stream.ts";

export interface Connection {
  server: URL;
  ca?: string;
  cert?: string;
  key?: string;
  token?: string;
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** The fields of Kubernetes objects, lists and Status responses that tests read; the rest is untyped. */
export interface Body {
  kind?: string;
  apiVersion?: string;
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    generation?: number;
    continue?: string;
    remainingItemCount?: number;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    finalizers?: string[];
    deletionTimestamp?: string;
    creationTimestamp?: string;
    managedFields?: { manager: string; operation: string; subresource?: string; fieldsV1: unknown }[];
  };
  items: Body[];
  message?: string;
  reason?: string;
  code?: number;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: { reason?: string; message?: string; field?: string }[];
    retryAfterSeconds?: number;
  };
  status?: unknown;
  spec?: unknown;
  [field: string]: unknown;
}

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  /** The texts of the `Warning: 299` headers. */
  warnings: readonly string[];
  bytes: Buffer;
  text: string;
  /** The response as JSON; throws if it is not JSON. */
  readonly body: Body;
}

interface RequestOptions {
  headers?: Headers;
  /** Strings and bytes are sent unchanged, anything else as JSON. */
  body?: unknown;
}

export interface Api {
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  get(path: string, headers?: Headers): Promise<Answer>;
  create(path: string, body: unknown, headers?: Headers): Promise<Answer>;
  replace(path: string, body: unknown, headers?: Headers): Promise<Answer>;
  patch(kind: PatchKind, path: string, body: unknown): Promise<Answer>;
  delete(path: string, body?: unknown): Promise<Answer>;
  watch(path: string, headers?: Headers): Promise<EventStream>;
  /** The same server with other headers, which are sent with every request. */
  as(headers: Headers): Api;
  close(): void;
}

type PatchKind = "json" | "merge" | "strategic" | "apply";
const PATCH_TYPES: Record<PatchKind, string> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/** Carries requests: it calls `onResponse` once, and then passes the body as it arrives. */
interface Wire {
  send(
    method: string,
    path: string,
    headers: Record<string, string | readonly string[]>,
    body: Buffer | undefined,
    receiver: Receiver,
  ): Flow;
  close(): void;
}

/**
 * Node's default of 10 MB also counts bodies that are not sent yet: with more of them the client itself would reset
 * streams whose response has arrived (ENHANCE_YOUR_CALM).
 */
const SESSION_MEMORY_MB = 256;

export function connectHttp2(connection: Connection): Api {
  const open = (): http2.ClientHttp2Session => {
    const opened = http2.connect(connection.server.origin, {
      ...tlsOf(connection),
      settings: { initialWindowSize: 1024 * 1024 },
      maxSessionMemory: SESSION_MEMORY_MB,
    });
    opened.on("error", () => {}); // Each request reports the error itself.
    return opened;
  };
  let session = open();
  let isClosed = false;
  const wire: Wire = {
    send(method, path, headers, body, receiver) {
      // The server closes a connection that is idle for two minutes.
      if (!isClosed && (session.closed || session.destroyed)) session = open();
      const stream = session.request(
        { ":method": method, ":path": path, ...headers },
        { endStream: body === undefined },
      );
      stream.on("response", ({ ":status": status, ...rest }) => receiver.onResponse(Number(status), flat(rest)));
      stream.on("data", (chunk: Buffer) => receiver.onData(chunk));
      stream.on("end", () => receiver.onEnd());
      stream.on("error", (error: Error) => receiver.onError(error));
      if (body !== undefined) stream.end(body);
      return { pause: () => stream.pause(), cancel: () => stream.close(http2.constants.NGHTTP2_CANCEL) };
    },
    close() {
      isClosed = true;
      session.destroy();
    },
  };
  return createApi(wire, connection, {});
}

export function connectHttp1(connection: Connection): Api {
  const agent = new https.Agent({ ...tlsOf(connection), keepAlive: true, ALPNProtocols: ["http/1.1"] });
  const wire: Wire = {
    send(method, path, headers, body, receiver) {
      const request = https.request(new URL(path, connection.server.origin), {
        agent,
        method,
        headers: { ...headers, ...defined({ "content-length": body ? String(body.length) : undefined }) },
      });
      let incoming: IncomingMessage | undefined;
      request.on("response", (response) => {
        receiver.onResponse(response.statusCode ?? 0, flat(response.headers));
        incoming = response;
        response.on("data", (chunk: Buffer) => receiver.onData(chunk));
        response.on("end", () => receiver.onEnd());
        response.on("error", (error) => receiver.onError(error));
      });
      request.on("error", (error) => receiver.onError(error));
      request.end(body);
      return { pause: () => incoming?.pause(), cancel: () => request.destroy() };
    },
    close: () => agent.destroy(),
  };
  return createApi(wire, connection, {});
}

function createApi(wire: Wire, connection: Connection, always: Headers): Api {
  const prefix = connection.server.pathname.replace(/\/$/, "");
  const identity: Headers = connection.token === undefined ? {} : { authorization: `Bearer ${connection.token}` };
  const headersOf = (headers: Headers): Record<string, string | readonly string[]> => ({
    accept: "application/json",
    "user-agent": "contract/1.0",
    ...identity,
    ...always,
    ...headers,
  });

  const request: Api["request"] = (method, path, { headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let status = 0;
      let received: Readonly<Record<string, string | undefined>> = {};
      wire.send(
        method,
        prefix + path,
        headersOf({ ...defined({ "content-type": body === undefined ? undefined : "application/json" }), ...headers }),
        bytesOf(body),
        {
          onResponse(code, responseHeaders) {
            status = code;
            received = responseHeaders;
          },
          onData: (chunk) => chunks.push(chunk),
          onEnd: () => resolve(answerOf(status, received, Buffer.concat(chunks))),
          onError: (error) => reject(new Error(`${method} ${path} failed on the wire`, { cause: error })),
        },
      );
    });

  return {
    request,
    get: (path, headers) => request("GET", path, { headers }),
    create: (path, body, headers) => request("POST", path, { body, headers }),
    replace: (path, body, headers) => request("PUT", path, { body, headers }),
    patch: (kind, path, body) => request("PATCH", path, { body, headers: { "content-type": PATCH_TYPES[kind] } }),
    delete: (path, body) => request("DELETE", path, { body }),
    watch: (path, headers = {}) =>
      eventStream((receiver) => wire.send("GET", prefix + path, headersOf(headers), undefined, receiver)),
    as: (headers) => createApi(wire, connection, { ...always, ...headers }),
    close: () => wire.close(),
  };
}

function answerOf(status: number, headers: Readonly<Record<string, string | undefined>>, bytes: Buffer): Answer {
  const text = bytes.toString("utf8");
  return {
    status,
    headers,
    bytes,
    text,
    warnings: [...(headers["warning"] ?? "").matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = ""]) =>
      quoted.replaceAll(/\\(.)/g, "$1"),
    ),
    get body() {
      return JSON.parse(text) as Body;
    },
  };
}

function tlsOf({ ca, cert, key }: Connection): { ca?: string; cert?: string; key?: string } {
  return { ca: ca || undefined, cert: cert || undefined, key: key || undefined };
}

function bytesOf(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function flat(
  headers: Readonly<Record<string, string | string[] | number | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value?.toString()]),
  );
}
