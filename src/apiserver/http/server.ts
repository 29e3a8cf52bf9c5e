/**
 * The front door: one TLS port that speaks HTTP/2 and HTTP/1.1 and hands requests to the core.
 *
 * Every peer is bounded: handshake, headers, bodies and answers have deadlines, idle connections are closed, silent
 * ones are asked whether they are still there. A watch lasts as long as its peer reads it; the core gives up slow ones.
 */
import http2 from "node:http2";
import type { Http2Session } from "node:http2";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Server } from "node:net";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { FlotillaError, systemClock } from "../../base/index.ts";
import type { Clock, Log, Timer } from "../../base/index.ts";
import type { ApiRequest, ApiResponse, Authenticator } from "../request/request.ts";
import type { KeyPair } from "./certificates.ts";
import { startExchange } from "./exchange.ts";
import type { Exchange } from "./exchange.ts";
import { peerOf } from "./peer.ts";
import type { Peer } from "./peer.ts";
import { createBodyReader } from "./request-body.ts";
import { http1Wire, http2Wire, upgradeWire } from "./wire.ts";
import type { Wire } from "./wire.ts";

export interface HttpServerOptions {
  handle(request: ApiRequest): Promise<ApiResponse>;
  authenticator: Authenticator;
  tls: ServerTls;
  log: Log;
  clock?: Clock;
  maxConnections?: number;
  /** How long a peer may take for the head of an HTTP/1.1 request. */
  headersTimeoutMs?: number;
  /** How long requests may still run when the server stops. */
  drainMs?: number;
  /** Told first when the server stops: from then on it should say that it is not ready. */
  onStopping?(): void;
  /** How long it then still serves as usual, for load balancers to notice. */
  stopDelayMs?: number;
}

export interface ServerTls extends KeyPair {
  /** PEM; who signs client certificates. Without it no client certificate is trusted. */
  clientCa?: string;
}

export interface HttpServer {
  /** Port 0 takes a free one. Without a host only this machine can connect. */
  listen(port: number, host?: string): Promise<{ port: number }>;
  /** Takes new certificates for new connections. */
  setTls(tls: ServerTls): void;
  /**
   * Says good-bye to the peers, ends streams, waits for running requests within the bound, then closes what is left.
   */
  close(): Promise<void>;
}

/** The port is taken, or we may not use it. */
export class ListenError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Listen", message, options);
  }
}

/** An informer-heavy Go process holds hundreds of watches on one connection. */
const MAX_CONCURRENT_STREAMS = 1000;
/**
 * For what peers send us; what we send waits in windows of theirs, one per stream, so that a slow watch holds up
 * nothing else.
 */
const STREAM_WINDOW_BYTES = 256 * 1024;
const CONNECTION_WINDOW_BYTES = 4 * 1024 * 1024;
/** Node's own bound of 10 MB per connection is reached by a thousand watches. */
const SESSION_MEMORY_MB = 512;
const MAX_HEADER_BYTES = 64 * 1024;
/** Eighty bodies of the largest size at the same time. */
const MAX_TOTAL_BODY_BYTES = 256 * 1024 * 1024;
const MAX_CONNECTIONS = 10_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than clients keep idle connections, so that they close them and not we under their next request. */
const IDLE_TIMEOUT_MS = 120_000;
const KEEP_ALIVE_MS = 60_000;
const SWEEP_MS = 10_000;
const PING_AFTER_SWEEPS = 3;
const DRAIN_MS = 10_000;
/** For what was answered already, and for peers that do not read it. */
const FLUSH_MS = 1_000;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { log, clock = systemClock, drainMs = DRAIN_MS } = options;
  const deps = {
    handle: options.handle,
    authenticator: options.authenticator,
    bodies: createBodyReader({ maxTotalBytes: MAX_TOTAL_BODY_BYTES }),
    clock,
    log,
    isStopping: () => stopping,
  };
  const exchanges = new Set<Exchange>();
  let onDrained: (() => void) | undefined;
  let stopping = false;
  const sessions = new Map<Http2Session, SessionState>();
  const sockets = new Set<TLSSocket>();
  const http1Peers = new WeakMap<object, Peer>();
  const server = http2.createSecureServer({
    ...secureContext(options.tls),
    allowHTTP1: true,
    requestCert: true,
    // Who has no certificate, or a bad one, is judged per request and gets an answer.
    rejectUnauthorized: false,
    minVersion: "TLSv1.2",
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxSessionMemory: SESSION_MEMORY_MB,
    settings: {
      maxConcurrentStreams: MAX_CONCURRENT_STREAMS,
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxHeaderListSize: MAX_HEADER_BYTES,
    },
    ...http1Limits(options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS),
  });
  server.maxConnections = options.maxConnections ?? MAX_CONNECTIONS;

  const start = (wire: Wire, peer: Peer, ended: (listener: () => void) => void): void => {
    const exchange = startExchange(wire, peer, deps);
    exchanges.add(exchange);
    ended(() => {
      exchanges.delete(exchange);
      exchange.abort();
      if (exchanges.size === 0) onDrained?.();
    });
  };

  server.on("session", (session) => {
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    sessions.set(session, {
      peer: peerOf(session.socket as TLSSocket),
      streams: 0,
      idleSinceMs: clock.now(),
      quietSweeps: 0,
    });
    // Broken connections are everyday; their streams end and tell who needs to know.
    session.on("error", (error) => log.debug("connection failed", { error }));
    session.once("close", () => sessions.delete(session));
  });

  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    let peer = http1Peers.get(request.socket);
    if (!peer) http1Peers.set(request.socket, (peer = peerOf(request.socket as TLSSocket)));
    response.on("error", (error) => log.debug("response failed", { error }));
    start(http1Wire(request, response), peer, (listener) => response.once("close", listener));
  });

  const onStreamError = (error: Error): void => log.debug("stream failed", { error });
  // A listener for "request" makes Node serve HTTP/2 through its compatible interface too; ours takes its place.
  server.removeAllListeners("stream");
  // Node also hands over the headers line by line; its types leave that out.
  server.on("stream", (stream, headers, _flags, ...rest: readonly (readonly string[])[]) => {
    const state = stream.session && sessions.get(stream.session);
    if (!state) {
      stream.destroy();
      return;
    }
    state.streams++;
    stream.on("error", onStreamError);
    if (headers.expect === "100-continue") stream.additionalHeaders({ ":status": 100 });
    start(http2Wire(stream, headers, rest[0] ?? []), state.peer, (listener) =>
      stream.once("close", () => {
        state.streams--;
        state.idleSinceMs = clock.now();
        listener();
      }),
    );
  });

  server.on("secureConnection", (socket) => {
    // Its handshake began before the server stopped listening.
    if (stopping) {
      socket.destroy();
      return;
    }
    socket.setNoDelay(true);
    // A peer that is gone without a word would hold an HTTP/1.1 watch or a command open for ever.
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", (error) => log.debug("TLS handshake failed", { error }));
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", (error) => log.debug("upgraded connection failed", { error }));
    start(upgradeWire(request, socket, head), peerOf(request.socket as TLSSocket), (listener) =>
      socket.once("close", listener),
    );
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    // What came was not HTTP, or too much of it or too slow, so there is nobody to explain it to. A peer that keeps its
    // side open does not keep ours.
    if (socket.writable)
      socket.end(
        `HTTP/1.1 ${CLIENT_ERRORS.get(error.code ?? "") ?? "400 Bad Request"}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
        () => socket.destroy(),
      );
    else socket.destroy();
  });

  let sweeper: Timer | undefined;
  const sweep = (): void => {
    const nowMs = clock.now();
    for (const exchange of exchanges) exchange.checkDeadline(nowMs);
    for (const [session, state] of sessions) sweepSession(session, state, nowMs);
    sweeper = clock.after(SWEEP_MS, sweep);
  };

  return {
    async listen(port, host = "127.0.0.1") {
      await new Promise<void>((resolve, reject) => {
        server.once("error", (cause) =>
          reject(
            new ListenError(
              `listening on ${host} port ${port}: ${(cause as NodeJS.ErrnoException).code === "EACCES" ? "this user may not use it; choose one above 1023" : "choose another port, or stop what uses it"}`,
              { cause },
            ),
          ),
        );
        server.listen(port, host, resolve);
      });
      server.on("error", (error) => log.error("server failed", { error }));
      sweeper = clock.after(SWEEP_MS, sweep);
      return { port: (server.address() as AddressInfo).port };
    },
    setTls: (tls) => server.setSecureContext(secureContext(tls)),
    async close() {
      options.onStopping?.();
      if (options.stopDelayMs)
        await new Promise<void>((resolve) => void clock.after(options.stopDelayMs ?? 0, resolve));
      stopping = true;
      sweeper?.cancel();
      // Only stops listening. The server's own `close` also destroys HTTP/1.1 connections whose answer is still being
      // flushed.
      const closed = new Promise<void>((resolve) => void Server.prototype.close.call(server, () => resolve()));
      for (const exchange of exchanges) exchange.endStream();
      for (const session of sessions.keys()) session.close();
      await new Promise<void>((resolve) => {
        const patience = clock.after(drainMs, resolve);
        onDrained = () => {
          patience.cancel();
          resolve();
        };
        if (exchanges.size === 0) onDrained();
      });
      for (const exchange of exchanges) exchange.abort();
      for (const session of sessions.keys()) session.destroy();
      // The last bytes may still be on their way through the socket.
      for (const socket of sockets) socket.destroySoon();
      const flushing = clock.after(FLUSH_MS, () => sockets.forEach((socket) => socket.destroy()));
      await closed;
      flushing.cancel();
      // All connections are gone; now it only lets go of its timer.
      server.close();
    },
  };
}

const CLIENT_ERRORS: ReadonlyMap<string, string> = new Map([
  ["HPE_HEADER_OVERFLOW", "431 Request Header Fields Too Large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "408 Request Timeout"],
]);

interface SessionState {
  peer: Peer;
  streams: number;
  idleSinceMs: number;
  /** Sweeps since the peer last showed that it lives. */
  quietSweeps: number;
}

/** Closes what is idle, and gives up a peer that leaves a ping unanswered: behind a NAT it may be long gone. */
function sweepSession(session: Http2Session, state: SessionState, nowMs: number): void {
  if (session.closed || session.destroyed) return;
  if (state.streams === 0 && nowMs - state.idleSinceMs > IDLE_TIMEOUT_MS) return session.close();
  state.quietSweeps++;
  if (state.quietSweeps > 2 * PING_AFTER_SWEEPS) return session.destroy();
  if (state.quietSweeps % PING_AFTER_SWEEPS === 0)
    session.ping((error) => (state.quietSweeps = error ? state.quietSweeps : 0));
}

/** Node looks at its deadlines now and then, so that it does so often enough for the shortest is part of them. */
const http1Limits = (headersTimeout: number) => ({
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: IDLE_TIMEOUT_MS,
  connectionsCheckingInterval: headersTimeout / 4,
});

function secureContext({ certificate, key, clientCa }: ServerTls): { cert: string; key: string; ca: string[] } {
  // Without an authority of ours Node would trust the public ones to name our users.
  return { cert: certificate, key, ca: clientCa === undefined ? [] : [clientCa] };
}
