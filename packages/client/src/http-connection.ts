/**
 * Connection to one server over HTTP/2, or over HTTP/1.1 where the server supports nothing newer.
 *
 * All requests share a session; another is opened only when watches have filled it. A session that stops answering
 * pings is closed with its requests: behind a NAT a dead peer looks exactly like a quiet one. When the client
 * certificate changes, new connections are opened and the old ones are closed after a while. After a failed attempt to
 * connect, requests fail immediately until the backoff is over, so that a dead member costs its callers nothing.
 */
import { defined } from "@flotilla/base";
import type { Agent } from "node:http";
import type { TLSSocket } from "node:tls";
import type { Clock } from "@flotilla/base";
import { sameIdentity } from "./credentials.ts";
import type { Credentials } from "./credentials.ts";
import { UnreachableError } from "./errors.ts";
import { requestHttp1, requestHttp2 } from "./http-requests.ts";
import type { HttpRequest, HttpResponse } from "./http-requests.ts";
import { createAgent, openTls } from "./http-sockets.ts";
import type { TlsOptions } from "./http-sockets.ts";
import { DEFAULT_TIMEOUTS, openSession, pingWhileBusy } from "./http2-session.ts";
import type { ConnectionTimeouts, Session } from "./http2-session.ts";
import type { Proxy } from "./tunnel.ts";
import { untilStopped } from "./until-stopped.ts";

export interface HttpConnection {
  /**
   * Resolves with the head of the response; `stop` aborts the request at any time, including while the body is read.
   * `identity` is the client certificate; unset uses the one of the options.
   */
  open(request: HttpRequest, stop: AbortSignal, identity?: Pick<Credentials, "cert" | "key">): Promise<HttpResponse>;
  close(): Promise<void>;
}

const FIRST_BACK_OFF_MS = 50;
const MAX_BACK_OFF_MS = 2_000;
/** Each carries at least a hundred streams; a process that needs more waits for a free stream. */
const MAX_SESSIONS = 16;
/** Requests that started under an old identity may complete; watches, which do not end, are then aborted. */
const RETIRE_AFTER_MS = 30_000;
export interface HttpConnectionOptions {
  /** Addresses of one server, tried in turn: the one that last answered, and then the others. */
  servers: readonly [URL, ...URL[]];
  tls: TlsOptions;
  clock: Clock;
  /** The proxy for every connection. */
  proxy?: Proxy;
  timeouts?: ConnectionTimeouts | undefined;
}

export function createHttpConnection(options: HttpConnectionOptions): HttpConnection {
  const { servers, tls: tlsSettings, clock, proxy, timeouts = DEFAULT_TIMEOUTS } = options;
  let settings = tlsSettings;
  let server: URL = servers[0];
  const sessions = new Set<Session>();
  const retirement = createRetirement(clock);
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

  /** One that refuses the identity, or has another certificate, is not asked in vain either: the next one may be right. */
  const openAny = async (used: TlsOptions): Promise<TLSSocket> => {
    const first = servers.indexOf(server);
    let failed: unknown;
    for (let turn = 0; turn < servers.length; turn++) {
      const candidate = servers[(first + turn) % servers.length] ?? server;
      try {
        const socket = await openTls(candidate, used, clock, proxy, timeouts.connectMs);
        server = candidate;
        return socket;
      } catch (error) {
        failed ??= error;
        if (closed) break;
      }
    }
    throw failed;
  };

  const connect = async (): Promise<void> => {
    try {
      const used = settings;
      const socket = await openAny(used);
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

  const addSession = async (socket: TLSSocket, used: TlsOptions): Promise<void> => {
    const session = await openSession(server, socket, clock, timeouts);
    if (used !== settings) return session.http2.destroy();
    // It ended at once; waiting callers connect again.
    if (session.http2.destroyed) return;
    const stopPinging = pingWhileBusy(session, clock, timeouts);
    session.http2.once("close", () => {
      stopPinging();
      sessions.delete(session);
    });
    sessions.add(session);
  };

  const become = ({ cert, key }: Pick<Credentials, "cert" | "key">): void => {
    settings = { ...settings, ...defined({ cert, key }) };
    failure = undefined;
    for (const { http2: session } of sessions) {
      session.close();
      retirement.add(
        () => session.destroy(),
        (forget) => void session.once("close", forget),
      );
    }
    sessions.clear();
    const agent = http1;
    if (!agent || server.protocol === "http:") return;
    http1 = undefined;
    retirement.add(
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
      retirement.endAll();
    },
  };
}

/** Closes connections that were opened under another identity, after a while. */
function createRetirement(clock: Clock): {
  add(end: () => void, onEnd: (forget: () => void) => void): void;
  endAll(): void;
} {
  const retiring = new Set<() => void>();
  return {
    add(end, onEnd) {
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
    },
    endAll() {
      for (const end of retiring) end();
    },
  };
}
