/**
 * Connection to one server over HTTP/2, or over HTTP/1.1 where the server supports nothing newer.
 *
 * All requests share a session; another is opened only when watches have filled it. A session that stops answering
 * pings is closed with its requests: behind a NAT a dead peer looks exactly like a quiet one. When the client
 * certificate changes, new connections are opened and the old ones are closed after a while. After a failed attempt to
 * connect, requests fail immediately until the backoff is over, so that a dead member costs its callers nothing.
 */
import type { Agent, IncomingHttpHeaders } from "node:http";
import http2 from "node:http2";
import https from "node:https";
import { isIP } from "node:net";
import type { Duplex, Readable } from "node:stream";
import tls from "node:tls";
import type { Clock, Timer } from "@flotilla/base";
import { sameIdentity } from "./credentials.ts";
import type { Credentials } from "./credentials.ts";
import { UnreachableError } from "./errors.ts";
import { codeOf } from "./explain-failure.ts";
import { KEEP_ALIVE, openTunnel } from "./tunnel.ts";
import type { Proxy } from "./tunnel.ts";

/**
 * An import would create a module namespace of `node:http`, for which Node also loads its fetch and WebSocket: 10 MB.
 */
const http = process.getBuiltinModule("node:http");

export interface TlsOptions {
  /** PEM. Unset trusts the system's CAs. */
  ca?: string;
  /** PEM; the client certificate. */
  cert?: string;
  key?: string;
  /** Does not verify the server's certificate. For tests and broken setups; never the default. */
  insecure?: boolean;
  /** The name that the server's certificate must contain when it is not the URL's host. */
  serverName?: string;
}

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

export interface HttpConnection {
  /**
   * Resolves with the head of the response; `stop` aborts the request at any time, including while the body is read.
   * `identity` is the client certificate; unset uses the one of the options.
   */
  open(request: HttpRequest, stop: AbortSignal, identity?: Pick<Credentials, "cert" | "key">): Promise<HttpResponse>;
  close(): Promise<void>;
}

/** Thrown when the server certainly did not process the request, so that any request may be sent again. */
export class NotProcessedError extends UnreachableError {}

const CONNECT_TIMEOUT_MS = 10_000;
/** client-go's intervals for sending a ping and for waiting for its answer. */
const PING_AFTER_MS = 30_000;
const PING_TIMEOUT_MS = 15_000;
const FIRST_BACK_OFF_MS = 50;
const MAX_BACK_OFF_MS = 2_000;
/** Each carries at least a hundred streams; a process that needs more waits for a free stream. */
const MAX_SESSIONS = 16;
/** Large enough for a large list from a distant server; a reader that pauses a stream buffers no more than this. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024;
/** A thousand watches reach Node's default limit of 10 MB per session. */
const SESSION_MEMORY_MB = 512;
const MAX_HTTP1_SOCKETS = 256;
/** Requests that started under an old identity may complete; watches, which do not end, are then aborted. */
const RETIRE_AFTER_MS = 30_000;
const NEVER_PROCESSED: ReadonlySet<string | undefined> = new Set([
  "ERR_HTTP2_GOAWAY_SESSION",
  "ERR_HTTP2_INVALID_SESSION",
]);

interface Session {
  http2: http2.ClientHttp2Session;
  active: number;
  limit: number;
}

export interface HttpConnectionOptions {
  server: URL;
  tls: TlsOptions;
  clock: Clock;
  /** The proxy for every connection. */
  proxy?: Proxy;
}

export function createHttpConnection({
  server,
  tls: tlsSettings,
  clock,
  proxy,
}: HttpConnectionOptions): HttpConnection {
  let settings = tlsSettings;
  const sessions = new Set<Session>();
  const retiring = new Set<() => void>();
  let current: Pick<Credentials, "cert" | "key"> | undefined;
  const former = new WeakSet<Pick<Credentials, "cert" | "key">>();
  const makeAgent = (): Agent => createAgent(server, settings, clock, proxy);
  let http1: Agent | undefined = server.protocol === "http:" ? makeAgent() : undefined;
  let connecting: Promise<void> | undefined;
  let failure: { error: unknown; retryAtMs: number; backOffMs: number } | undefined;
  let closed = false;

  const findSession = (): Session | undefined => {
    for (const session of sessions)
      if (session.active < session.limit && !session.http2.closed && !session.http2.destroyed) return session;
    if (sessions.size < MAX_SESSIONS) return undefined;
    // All are full: wait in the queue of the least busy session rather than open connections without limit.
    return [...sessions].reduce((least, session) => (session.active < least.active ? session : least));
  };

  const connect = async (): Promise<void> => {
    try {
      const used = settings;
      const socket = await openTls(server, used, clock, proxy);
      // Closed, or the identity has changed: waiting callers connect again.
      if (closed || used !== settings) socket.destroy();
      else if (socket.alpnProtocol === "h2") await addSession(socket, used);
      else {
        // The probe's socket is closed: an HTTP/1.1 agent opens its own, one per concurrent request.
        socket.destroy();
        http1 = makeAgent();
      }
      failure = undefined;
    } catch (error) {
      const backOffMs = Math.min(MAX_BACK_OFF_MS, failure ? failure.backOffMs * 2 : FIRST_BACK_OFF_MS);
      failure = { error, backOffMs, retryAtMs: clock.now() + backOffMs };
      throw error;
    } finally {
      connecting = undefined;
    }
  };

  const addSession = async (socket: tls.TLSSocket, used: TlsOptions): Promise<void> => {
    const session: Session = {
      http2: http2.connect(server, {
        createConnection: () => socket,
        settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
        maxSessionMemory: SESSION_MEMORY_MB,
      }),
      active: 0,
      limit: 0,
    };
    // The server's settings contain its stream limit; before they arrive, Node would assume a hundred.
    const limits = await firstEvent<http2.Settings>(session.http2, "remoteSettings", clock);
    session.limit = Math.max(1, limits.maxConcurrentStreams ?? Number.MAX_SAFE_INTEGER);
    session.http2.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    // A session error also ends its streams, and they report it.
    session.http2.on("error", () => {});
    if (used !== settings) return session.http2.destroy();
    session.http2.on(
      "remoteSettings",
      (changed) => (session.limit = Math.max(1, changed.maxConcurrentStreams ?? Number.MAX_SAFE_INTEGER)),
    );
    const stopPinging = pingWhileBusy(session, clock);
    session.http2.once("close", () => {
      stopPinging();
      sessions.delete(session);
    });
    sessions.add(session);
  };

  /** Closes connections that were opened under another identity, after a while. */
  const retire = (end: () => void, onEnd: (forget: () => void) => void): void => {
    const timer = clock.after(RETIRE_AFTER_MS, () => now());
    const forget = (): void => {
      timer.cancel();
      retiring.delete(now);
    };
    const now = (): void => {
      forget();
      end();
    };
    retiring.add(now);
    onEnd(forget);
  };
  const become = ({ cert, key }: Pick<Credentials, "cert" | "key">): void => {
    settings = { ...settings, ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
    failure = undefined;
    for (const { http2: session } of sessions) {
      session.close();
      retire(
        () => session.destroy(),
        (forget) => void session.once("close", forget),
      );
    }
    sessions.clear();
    const agent = http1;
    if (!agent || server.protocol === "http:") return;
    http1 = undefined;
    retire(
      () => agent.destroy(),
      () => {},
    );
  };

  const acquire = async (
    stop: AbortSignal,
    identity: Pick<Credentials, "cert" | "key"> | undefined,
  ): Promise<Session | Agent> => {
    if (identity && identity.cert !== undefined && !former.has(identity)) {
      // A request that was about to be sent under the former identity uses the new one, and does not bring the old one
      // back.
      if (current && current !== identity) former.add(current);
      current = identity;
      if (!sameIdentity(identity, settings)) become(identity);
    }
    for (;;) {
      if (closed) throw new UnreachableError("this connection was closed; open a new one");
      if (http1) return http1;
      const session = findSession();
      if (session) {
        // Counted here and not when the stream starts: many callers wait for one connection, and all resume in the same
        // turn.
        session.active++;
        return session;
      }
      if (!connecting) {
        if (failure && clock.now() < failure.retryAtMs) throw failure.error;
        connecting = connect();
      }
      await untilStopped(connecting, stop);
    }
  };

  return {
    async open(request, stop, identity) {
      stop.throwIfAborted();
      const by = await acquire(stop, identity);
      // The request itself releases a reserved stream, even when it is too late to start it.
      return "http2" in by ? requestHttp2(by, request, stop) : requestHttp1(server, by, request, stop);
    },
    async close() {
      closed = true;
      http1?.destroy();
      // Callers that still wait for an attempt to connect receive its failure from it, not from here.
      await Promise.allSettled([connecting]);
      for (const session of sessions) session.http2.destroy();
      for (const end of retiring) end();
    },
  };
}

/** For a session on which a stream was reserved; the stream is released when it closes. */
function requestHttp2(session: Session, request: HttpRequest, stop: AbortSignal): Promise<HttpResponse> {
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

function requestHttp1(server: URL, agent: Agent, request: HttpRequest, stop: AbortSignal): Promise<HttpResponse> {
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

/** Pings a silent peer while requests are active. Returns a function that stops it. */
function pingWhileBusy(session: Session, clock: Clock): () => void {
  let timer: Timer;
  const next = (): void => {
    timer = clock.after(PING_AFTER_MS, () => {
      if (session.active === 0) return next();
      timer = clock.after(PING_TIMEOUT_MS, () =>
        session.http2.destroy(
          new UnreachableError("the server stopped answering pings; the connection was closed", {
            mayHaveArrived: true,
          }),
        ),
      );
      session.http2.ping(() => {
        timer.cancel();
        if (!session.http2.destroyed) next();
      });
    });
  };
  next();
  return () => timer.cancel();
}

function tlsOptions(server: URL, options: TlsOptions): tls.ConnectionOptions {
  const name = options.serverName ?? hostOf(server);
  return {
    host: hostOf(server),
    port: portOf(server),
    minVersion: "TLSv1.2",
    rejectUnauthorized: !options.insecure,
    // An IP address cannot be used for SNI; it is only compared with the certificate.
    ...(isIP(name) === 0
      ? { servername: name }
      : {
          checkServerIdentity: (_host: string, certificate: tls.PeerCertificate) =>
            tls.checkServerIdentity(name, certificate),
        }),
    ca: options.ca,
    cert: options.cert,
    key: options.key,
  };
}

async function openTls(
  server: URL,
  options: TlsOptions,
  clock: Clock,
  proxy: Proxy | undefined,
): Promise<tls.TLSSocket> {
  const through = proxy && (await openTunnel(proxy, { host: hostOf(server), port: portOf(server) }, clock));
  const socket = tls.connect({
    ...tlsOptions(server, options),
    ...(through && { socket: through }),
    ALPNProtocols: ["h2", "http/1.1"],
  });
  socket.setNoDelay(true);
  await firstEvent(socket, "secureConnect", clock);
  return socket;
}

/** For servers that support HTTP/1.1 only: a socket per concurrent request, each through the proxy if there is one. */
export function createAgent(server: URL, settings: TlsOptions, clock: Clock, proxy: Proxy | undefined): Agent {
  const kept = { ...KEEP_ALIVE, maxSockets: MAX_HTTP1_SOCKETS };
  const agent =
    server.protocol === "http:" ? new http.Agent(kept) : new https.Agent({ ...tlsOptions(server, settings), ...kept });
  if (!proxy) return agent;
  agent.createConnection = (_options, onCreated) => {
    openTunnel(proxy, { host: hostOf(server), port: portOf(server) }, clock).then(
      (socket) =>
        onCreated?.(
          null,
          server.protocol === "http:" ? socket : tls.connect({ ...tlsOptions(server, settings), socket }),
        ),
      // The type requires a socket even for a failure, which has none.
      (error: Error) => onCreated?.(error, undefined as unknown as Duplex),
    );
    return undefined;
  };
  return agent;
}

/** Waits for the event, and destroys the emitter when an error, its end or the timeout comes first. */
function firstEvent<T>(emitter: tls.TLSSocket | http2.ClientHttp2Session, name: string, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      timer.cancel();
      emitter.off(name, onEvent).off("error", onError).off("close", onClose);
      finish();
    };
    const onEvent = (value: T): void => settle(() => resolve(value));
    const onError = (error: Error): void => settle(() => reject(error));
    const onClose = (): void =>
      settle(() => reject(new UnreachableError("the server closed the connection before it was established")));
    const timer = clock.after(CONNECT_TIMEOUT_MS, () => {
      settle(() =>
        reject(
          new UnreachableError(
            `the server did not respond within ${CONNECT_TIMEOUT_MS / 1000} s; check the address, routes and firewalls`,
          ),
        ),
      );
      emitter.on("error", () => {}).destroy();
    });
    emitter.on(name, onEvent).on("error", onError).on("close", onClose);
  });
}

/**
 * Resolves like the promise, or rejects with the signal's reason when that comes first. The promise itself is not
 * cancelled.
 */
export function untilStopped<T>(promise: Promise<T>, stop: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = (): void => reject(stop.reason as Error);
    stop.addEventListener("abort", give, { once: true });
    promise.then(resolve, reject).finally(() => stop.removeEventListener("abort", give));
  });
}

function hostOf(server: URL): string {
  return server.hostname.replace(/^\[|\]$/g, "");
}

function portOf(server: URL): number {
  return Number(server.port || (server.protocol === "http:" ? 80 : 443));
}
