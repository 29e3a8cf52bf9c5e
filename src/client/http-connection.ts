/**
 * One server over HTTP/2, or over HTTP/1.1 where it speaks nothing newer.
 *
 * A session is shared by all requests; another is opened only when watches have filled it. A session that stops
 * answering pings is given up, and so are its requests: behind a NAT a dead peer looks exactly like a quiet one. When
 * the certificate with which we say who we are changes, new connections are opened and the old ones end after a while.
 * After a failed attempt to connect, requests fail at once until the back-off is over, so that a dead member costs its
 * callers nothing.
 */
import type { Agent, IncomingHttpHeaders } from "node:http";
import http2 from "node:http2";
import https from "node:https";
import { isIP } from "node:net";
import type { Duplex, Readable } from "node:stream";
import tls from "node:tls";
import type { Clock, Timer } from "../base/index.ts";
import { sameIdentity } from "./credentials.ts";
import type { Credentials } from "./credentials.ts";
import { UnreachableError } from "./errors.ts";
import { codeOf } from "./explain-failure.ts";
import { KEEP_ALIVE, openTunnel } from "./tunnel.ts";
import type { Proxy } from "./tunnel.ts";

/** An import would make a module namespace of `node:http`, for which Node also loads its fetch and WebSocket: 10 MB. */
const http = process.getBuiltinModule("node:http");

export interface TlsOptions {
  /** PEM. Unset trusts the system's authorities. */
  ca?: string;
  /** PEM; the client's identity. */
  cert?: string;
  key?: string;
  /** Does not check who the server is. For tests and broken set-ups; never the default. */
  insecure?: boolean;
  /** The name that the server's certificate must carry when it is not the host of the address. */
  serverName?: string;
}

export interface HttpRequest {
  method: string;
  path: string;
  /** A list is sent as several headers of the name. */
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
   * Resolves with the head of the answer; `stop` gives the request up at any time, also while the body is read.
   * `identity` is the certificate to connect with; unset uses the one of the options.
   */
  open(request: HttpRequest, stop: AbortSignal, identity?: Pick<Credentials, "cert" | "key">): Promise<HttpResponse>;
  close(): Promise<void>;
}

/** Thrown when the server certainly did not act on the request, so that any request may be sent again. */
export class NotProcessedError extends UnreachableError {}

const CONNECT_TIMEOUT_MS = 10_000;
/** As long as client-go waits before it asks whether the peer is still there, and for the answer. */
const PING_AFTER_MS = 30_000;
const PING_TIMEOUT_MS = 15_000;
const FIRST_BACK_OFF_MS = 50;
const MAX_BACK_OFF_MS = 2_000;
/** Each carries at least a hundred streams; a process that needs more waits for a free one. */
const MAX_SESSIONS = 16;
/** Wide enough for a large list at a far server; a reader that pauses a stream holds back no more than this. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024;
/** Node's own bound of 10 MB per session is reached by a thousand watches. */
const SESSION_MEMORY_MB = 512;
const MAX_HTTP1_SOCKETS = 256;
/** What was begun under an old identity may come to its end; watches, which have none, are cut then. */
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
  /** Where every connection goes through. */
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
    // All are full: wait in the queue of the least busy one rather than open connections without end.
    return [...sessions].reduce((least, session) => (session.active < least.active ? session : least));
  };

  const connect = async (): Promise<void> => {
    try {
      const used = settings;
      const socket = await openTls(server, used, clock, proxy);
      // Closed, or somebody else by now: whoever waits connects again.
      if (closed || used !== settings) socket.destroy();
      else if (socket.alpnProtocol === "h2") await addSession(socket, used);
      else {
        // The probe's socket is handed back: an HTTP/1.1 agent opens its own, one per request at a time.
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
    // The server's settings tell how many streams it allows; before them Node would assume a hundred.
    const limits = await firstEvent<http2.Settings>(session.http2, "remoteSettings", clock);
    session.limit = Math.max(1, limits.maxConcurrentStreams ?? Number.MAX_SAFE_INTEGER);
    session.http2.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    // What ends a session ends its streams with the same error, and they report it.
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

  /** Ends what was opened under another identity, after a while. */
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
      // A request that was about to be sent under the former identity goes under the new one, and does not bring the
      // old one back.
      if (current && current !== identity) former.add(current);
      current = identity;
      if (!sameIdentity(identity, settings)) become(identity);
    }
    for (;;) {
      if (closed) throw new UnreachableError("this connection was closed; open a new one");
      if (http1) return http1;
      const session = findSession();
      if (session) {
        // Taken here and not when the stream starts: many wait for one connection, and all go on in the same turn.
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
      // A session that was taken is given back by the request itself, also when it is too late to start it.
      return "http2" in by ? requestHttp2(by, request, stop) : requestHttp1(server, by, request, stop);
    },
    async close() {
      closed = true;
      http1?.destroy();
      // Whoever still waits for an attempt to connect learns its failure from it, not from here.
      await Promise.allSettled([connecting]);
      for (const session of sessions) session.http2.destroy();
      for (const end of retiring) end();
    },
  };
}

/** On a session of which one stream was taken; it is given back when the stream closes. */
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
          new UnreachableError("the connection was lost before an answer came; try again", { mayHaveArrived: true }),
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
      reject(new UnreachableError("the server switched protocols, which was not asked for"));
    });
    outgoing.on("error", reject);
    outgoing.end(request.body);
  });
}

/** Streams that the server refused, or that came after its good-bye, were not looked at. */
function asFailure(error: unknown, rstCode?: number): unknown {
  const untouched = NEVER_PROCESSED.has(codeOf(error)) || rstCode === http2.constants.NGHTTP2_REFUSED_STREAM;
  return untouched ? new NotProcessedError("the server is going away", { cause: error }) : error;
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

/** Asks a busy peer that says nothing whether it is still there. Returns what stops it. */
function pingWhileBusy(session: Session, clock: Clock): () => void {
  let timer: Timer;
  const next = (): void => {
    timer = clock.after(PING_AFTER_MS, () => {
      if (session.active === 0) return next();
      timer = clock.after(PING_TIMEOUT_MS, () =>
        session.http2.destroy(
          new UnreachableError("the server stopped answering; the connection was given up", { mayHaveArrived: true }),
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
    // An address cannot be named in TLS; it is only compared with the certificate.
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

/** For servers that speak HTTP/1.1 only: a socket per request at a time, each through the proxy if there is one. */
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
      // The type wants a socket also for a failure, of which there is none.
      (error: Error) => onCreated?.(error, undefined as unknown as Duplex),
    );
    return undefined;
  };
  return agent;
}

/** Waits for the event, and destroys the emitter when an error, its end or too much time comes first. */
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
      settle(() => reject(new UnreachableError("the server closed the connection before it was set up")));
    const timer = clock.after(CONNECT_TIMEOUT_MS, () => {
      settle(() =>
        reject(
          new UnreachableError(
            `the server did not answer within ${CONNECT_TIMEOUT_MS / 1000} s; check the address, routes and firewalls`,
          ),
        ),
      );
      emitter.on("error", () => {}).destroy();
    });
    emitter.on(name, onEvent).on("error", onError).on("close", onClose);
  });
}

/** What the promise gives, or the signal's reason when that comes first. The promise itself goes on. */
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
