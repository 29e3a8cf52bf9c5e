/**
 * The HTTP front end: one TLS port that serves HTTP/2 and HTTP/1.1 and passes requests to the core.
 *
 * Every client is bounded: handshake, headers, bodies and responses have deadlines, idle connections are closed, silent
 * ones are pinged. A watch lasts as long as its client reads it; the core disconnects slow ones.
 */
import http2 from "node:http2";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Server } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContext, TLSSocket } from "node:tls";
import { FlotillaError, sleep, systemClock } from "@flotilla/base";
import type { Clock, Log, Timer } from "@flotilla/base";
import type { ApiRequest, ApiResponse, Authenticator } from "../request/request.ts";
import type { ApiError, KeyPair } from "@flotilla/apimachinery";
import { createBodyBudget } from "./body-budget.ts";
import { countedRequests } from "./counted-request.ts";
import type { OtherPaths } from "./exchange.ts";
import { createExchanges } from "./exchanges.ts";
import { createHandshakes } from "./handshakes.ts";
import { certificatesIn, createFrontProxies, isSignedBy } from "./front-proxies.ts";
import type { FrontProxies, FrontProxySettings } from "./front-proxies.ts";
import { peerOf } from "./peer.ts";
import type { Peer, PeerAuthorities } from "./peer.ts";
import { createSessions } from "./sessions.ts";
import { http1Wire, http2Wire, upgradeWire } from "./wire.ts";

export interface HttpServerOptions {
  handle(request: ApiRequest): Promise<ApiResponse>;
  authenticator: Authenticator;
  /** Called when the credentials of a request are rejected. */
  onRejected?: (request: ApiRequest, error: ApiError) => void;
  tls: ServerTls;
  /** Proxies that authenticate users; unset: none. */
  proxies?: FrontProxySettings | undefined;
  /** Paths that are not part of the API; unset: none. */
  otherPaths?: OtherPaths | undefined;
  /** The certificate for clients that ask for this name; undefined, or unset: that of `tls`. */
  namedTls?: ((serverName: string) => SecureContext | undefined) | undefined;
  /** For paths whose body is read from clients without credentials, too: the size of the largest body. */
  openBodyBytes?(path: string): number | undefined;
  log: Log;
  clock?: Clock;
  maxConnections?: number;
  /** Connections whose TLS handshake is not finished; the oldest one is closed for the next. */
  maxHandshakes?: number;
  /** How long a client may take for the TLS handshake. */
  handshakeTimeoutMs?: number;
  /** How long a client may take to send the headers of an HTTP/1.1 request. */
  headersTimeoutMs?: number;
  /** How long requests may still run when the server stops. */
  drainMs?: number;
  /** Called first when the server stops: from then on it should report that it is not ready. */
  onStopping?(): void;
  /** How long it serves as before from then on, so that load balancers notice; unset is not at all. */
  stopAfterMs?: number | undefined;
}

interface ServerTls extends KeyPair {
  /** PEM; the authorities that sign client certificates. Without it no client certificate is trusted. */
  clientCa?: string;
}

export interface HttpServer {
  /** Port 0 selects a free port. Without a host only local clients can connect. */
  listen(port: number, host?: string): Promise<{ port: number }>;
  /** Uses new certificates for new connections. */
  setTls(tls: ServerTls): void;
  /**
   * Uses another authority of proxies. Connections of proxies that it did not sign are closed. Only for a server that had
   * proxies from the start. Throws `ConfigurationError`.
   */
  setProxies(settings: FrontProxySettings): void;
  /**
   * Notifies clients, ends streams, waits for running requests until the drain timeout, then closes the remaining
   * connections.
   */
  close(): Promise<void>;
}

/** The port is in use, or the process may not use it. */
export class ListenError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Listen", message, options);
  }
}

/** An informer-heavy Go process holds hundreds of watches on one connection. */
const MAX_CONCURRENT_STREAMS = 1000;
/**
 * For data from clients. Data to clients waits in their windows, one per stream, so a slow watch does not block other
 * streams.
 */
const STREAM_WINDOW_BYTES = 256 * 1024;
const CONNECTION_WINDOW_BYTES = 4 * 1024 * 1024;
/** A thousand watches reach Node's default limit of 10 MB per connection. */
const SESSION_MEMORY_MB = 512;
const MAX_HEADER_BYTES = 64 * 1024;
/** Bodies that are being read, wait or are handled: eighty of the maximum size, and a thousand of 64 KiB beside them. */
const BODY_BYTES = { large: 256 * 1024 * 1024, small: 64 * 1024 * 1024 };
const MAX_CONNECTIONS = 10_000;
/** A fifth of all connections, so that clients without credentials cannot use up the others' places. */
const MAX_HANDSHAKES = 2_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 60_000;
/**
 * Longer than clients keep idle connections, so that clients close them, and the server does not close one that a
 * client is about to use.
 */
const IDLE_TIMEOUT_MS = 120_000;
const KEEP_ALIVE_MS = 60_000;
const SWEEP_MS = 10_000;
const DRAIN_MS = 10_000;
/** For responses that are complete but not yet flushed, and for clients that do not read them. */
const FLUSH_MS = 1_000;

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { log, clock = systemClock, drainMs = DRAIN_MS } = options;
  let tls = options.tls;
  let proxies = options.proxies && createFrontProxies(options.proxies, tls.clientCa);
  const authorities = authoritiesOf(() => proxies, tls.clientCa);
  const deps = {
    handle: options.handle,
    authenticator: options.authenticator,
    proxies: () => proxies,
    onRejected: options.onRejected,
    bodies: createBodyBudget(BODY_BYTES),
    openBodyBytes: options.openBodyBytes,
    otherPaths: options.otherPaths,
    clock,
    log,
    isStopping: () => stopping,
  };
  let stopping = false;
  const exchanges = createExchanges(deps);
  const sessions = createSessions({ clock, idleTimeoutMs: IDLE_TIMEOUT_MS, authorities });
  const handshakes = createHandshakes(options.maxHandshakes ?? MAX_HANDSHAKES);
  const sockets = new Set<TLSSocket>();
  const http1Peers = new WeakMap<object, Peer>();
  const server = http2.createSecureServer({
    ...secureContext(tls, proxies),
    SNICallback: options.namedTls && serveNames(options.namedTls),
    allowHTTP1: true,
    requestCert: true,
    // Missing or invalid client certificates are rejected per request, with a Status.
    rejectUnauthorized: false,
    minVersion: "TLSv1.2",
    handshakeTimeout: options.handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT_MS,
    maxSessionMemory: SESSION_MEMORY_MB,
    settings: {
      maxConcurrentStreams: MAX_CONCURRENT_STREAMS,
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxHeaderListSize: MAX_HEADER_BYTES,
    },
    Http1IncomingMessage: countedRequests(() => clock.now()),
    ...http1Limits(options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS),
  });
  server.maxConnections = options.maxConnections ?? MAX_CONNECTIONS;

  server.on("session", (session) => {
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    sessions.add(session);
    // Connections break regularly; their streams end and notify their owners.
    session.on("error", (error) => log.debug("connection failed", { error }));
  });

  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    let peer = http1Peers.get(request.socket);
    if (!peer) http1Peers.set(request.socket, (peer = peerOf(request.socket as TLSSocket, authorities)));
    response.on("error", (error) => log.debug("response failed", { error }));
    exchanges.start(http1Wire(request, response), peer, (listener) => response.once("close", listener));
  });

  const onStreamError = (error: Error): void => log.debug("stream failed", { error });
  // A "request" listener makes Node also serve HTTP/2 through its compatibility API; the listener below replaces it.
  server.removeAllListeners("stream");
  // Node also passes the raw header lines; its types omit them.
  server.on("stream", (stream, headers, _flags, ...rest: readonly (readonly string[])[]) => {
    const peer = sessions.addStream(stream);
    if (!peer) {
      stream.destroy();
      return;
    }
    stream.on("error", onStreamError);
    if (headers.expect === "100-continue") stream.additionalHeaders({ ":status": 100 });
    exchanges.start(http2Wire(stream, headers, rest[0] ?? []), peer, (listener) => stream.once("close", listener));
  });

  server.on("connection", (socket: Socket) => handshakes.begin(socket));
  server.on("secureConnection", (socket) => {
    handshakes.finish(socket);
    // Its handshake started before the server stopped listening.
    if (stopping) {
      socket.destroy();
      return;
    }
    socket.setNoDelay(true);
    // A client that vanished without closing would keep an HTTP/1.1 watch or a command open forever.
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", (error, socket) => {
    log.debug("TLS handshake failed", { error });
    // Without a handshake nothing can be sent: ending the socket would wait for the handshake forever.
    socket.destroy();
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", (error) => log.debug("upgraded connection failed", { error }));
    exchanges.start(upgradeWire(request, socket, head), peerOf(request.socket as TLSSocket, authorities), (listener) =>
      socket.once("close", listener),
    );
  });
  server.on("clientError", rejectClient);

  let sweeper: Timer | undefined;
  const sweep = (): void => {
    exchanges.checkDeadlines();
    sessions.sweep();
    sweeper = clock.after(SWEEP_MS, sweep);
  };

  return {
    async listen(port, host = "127.0.0.1") {
      await new Promise<void>((resolve, reject) => {
        server.once("error", (cause) => {
          const isDenied = (cause as NodeJS.ErrnoException).code === "EACCES";
          const advice = isDenied
            ? "this user may not use it; choose one above 1023"
            : "choose another port, or stop what uses it";
          reject(new ListenError(`cannot listen on ${host} port ${port}: ${advice}`, { cause }));
        });
        server.listen(port, host, resolve);
      });
      server.on("error", (error) => log.error("server failed", { error }));
      sweeper = clock.after(SWEEP_MS, sweep);
      return { port: (server.address() as AddressInfo).port };
    },
    setTls(next) {
      tls = next;
      server.setSecureContext(secureContext(tls, proxies));
    },
    setProxies(settings) {
      proxies = createFrontProxies(settings, tls.clientCa);
      server.setSecureContext(secureContext(tls, proxies));
      for (const socket of sockets) if (isFormerProxy(socket, authorities)) socket.destroy();
    },
    async close() {
      options.onStopping?.();
      if (options.stopAfterMs) await sleep(clock, options.stopAfterMs);
      stopping = true;
      sweeper?.cancel();
      // Only stops listening. The server's own `close` also destroys HTTP/1.1 connections whose response is still being
      // flushed.
      const closed = new Promise<void>((resolve) => void Server.prototype.close.call(server, () => resolve()));
      handshakes.close();
      exchanges.endStreams();
      sessions.close();
      await exchanges.drained(drainMs);
      exchanges.abort();
      sessions.destroy();
      // The last bytes may still be in flight in the socket.
      for (const socket of sockets) socket.destroySoon();
      const flushing = clock.after(FLUSH_MS, () => sockets.forEach((socket) => socket.destroy()));
      await closed;
      flushing.cancel();
      // All connections are closed; this only clears the server's timer.
      server.close();
    },
  };
}

const CLIENT_ERRORS: ReadonlyMap<string, string> = new Map([
  ["HPE_HEADER_OVERFLOW", "431 Request Header Fields Too Large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "408 Request Timeout"],
]);

/**
 * The data was not HTTP, or was too long or too slow, so no Status can be sent. A client that keeps its side open does
 * not keep the server's side open.
 */
function rejectClient(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (socket.writable && !socket.destroyed)
    socket.end(
      `HTTP/1.1 ${CLIENT_ERRORS.get(error.code ?? "") ?? "400 Bad Request"}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
      () => socket.destroy(),
    );
  else socket.destroy();
}

/** Without a context of its own a connection has that of the server. */
const serveNames =
  (contextOf: (serverName: string) => SecureContext | undefined) =>
  (serverName: string, use: (error: Error | null, context?: SecureContext) => void): void =>
    use(null, contextOf(serverName));

/** Node checks its deadlines periodically, so the check interval must be short enough for the shortest deadline. */
const http1Limits = (headersTimeout: number) => ({
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: IDLE_TIMEOUT_MS,
  connectionsCheckingInterval: headersTimeout / 4,
});

function secureContext(
  { certificate, key, clientCa }: ServerTls,
  proxies: FrontProxies | undefined,
): { cert: string; key: string; ca: string[] } {
  // Without a CA of our own, Node would trust client certificates from public CAs.
  return { cert: certificate, key, ca: [clientCa, proxies?.clientCa].filter((each) => each !== undefined) };
}

/** Which authority signed a certificate; it matters only where there are proxies. */
function authoritiesOf(
  proxies: () => FrontProxies | undefined,
  clientCa: string | undefined,
): PeerAuthorities | undefined {
  if (!proxies()) return undefined;
  const clients = clientCa === undefined ? [] : certificatesIn(clientCa);
  return {
    signedClient: (certificate) => clients.some((authority) => isSignedBy(certificate, authority)),
    signedProxy: (certificate) => proxies()?.signed(certificate) ?? false,
  };
}

/** Whether the certificate of a connection was accepted, and none of the authorities signed it. */
function isFormerProxy(socket: TLSSocket, authorities: PeerAuthorities | undefined): boolean {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (!certificate || !authorities) return false;
  return !authorities.signedProxy(certificate) && !authorities.signedClient(certificate);
}
