/**
 * The connections to a webhook's servers. A server that offers HTTP/2 (ALPN) gets one connection with many calls; the others
 * get HTTP/1.1 with kept connections. The handshake that finds out is not wasted: its socket carries the first call.
 */
import http2 from "node:http2";
import type { ClientHttp2Session } from "node:http2";
import https from "node:https";
import { isIP } from "node:net";
import tls from "node:tls";
import type { TLSSocket } from "node:tls";
import { connectUnless } from "../blocked-addresses.ts";
import type { BlockedSet } from "../blocked-addresses.ts";
import type { Endpoint } from "./webhook-endpoint.ts";

export interface WebhookSessions {
  /** For calls over HTTP/1.1. */
  readonly agent: https.Agent;
  /**
   * The HTTP/2 connection to a server; undefined when it speaks HTTP/1.1. Rejects with the error of the connection, or with
   * the reason of `stop`.
   */
  find(endpoint: Endpoint, stop: AbortSignal): Promise<ClientHttp2Session | undefined>;
  /**
   * After a failed call: the next one asks again what the server speaks. A connection that was opened since is kept: calls that
   * fail one after the other on a lost connection must not close the one that replaced it.
   */
  forget(endpoint: Endpoint, session: ClientHttp2Session | undefined): void;
  close(): void;
}

export interface SessionLimits {
  ca: string[] | undefined;
  /** Addresses that no connection is made to. */
  blocked: BlockedSet | undefined;
  maxSockets: number;
  maxHeaderBytes: number;
  /** Idle connections are closed after this time. */
  idleMs: number;
}

/** Servers of one webhook: the pods behind its Service. The oldest connection is closed for the next. */
const MAX_SERVERS = 64;
/** In megabytes: two answers of the largest size, and what the protocol needs. */
const SESSION_MEMORY_MB = 16;
const CLOSED = Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" });

/** A handshake that has begun, and how many calls wait for it. */
interface Probe {
  readonly socket: TLSSocket;
  readonly outcome: Promise<ClientHttp2Session | undefined>;
  waiting: number;
}

export function createWebhookSessions(limits: SessionLimits): WebhookSessions {
  const { ca, blocked, maxSockets, maxHeaderBytes, idleMs } = limits;
  const probes = new Map<string, Probe>();
  /** What servers speak; undefined stands for HTTP/1.1. */
  const known = new Map<string, ClientHttp2Session | undefined>();
  /** Sockets of handshakes that ended with HTTP/1.1, for the next call. */
  const spare = new Map<string, TLSSocket>();
  const agent = new SpareAgent(spare, blocked, {
    keepAlive: true,
    maxSockets,
    maxFreeSockets: maxSockets,
    timeout: idleMs,
    minVersion: "TLSv1.2",
    ca,
    allowPartialTrustChain: true,
  });
  let isClosed = false;

  function drop(key: string): void {
    const session = known.get(key);
    known.delete(key);
    if (session && !session.destroyed) session.close();
    spare.get(key)?.destroy();
    spare.delete(key);
  }

  function learn(key: string, session: ClientHttp2Session | undefined): void {
    const [oldest] = known.size >= MAX_SERVERS ? known.keys() : [];
    if (oldest !== undefined) drop(oldest);
    known.set(key, session);
  }

  function openSession(key: string, { authority }: Endpoint, socket: TLSSocket): ClientHttp2Session {
    const session = http2.connect(`https://${authority}`, {
      createConnection: () => socket,
      settings: { enablePush: false, maxHeaderListSize: maxHeaderBytes },
      maxSessionMemory: SESSION_MEMORY_MB,
    });
    const leave = (): void => {
      if (known.get(key) === session) known.delete(key);
    };
    session.once("close", leave);
    session.once("goaway", () => {
      leave();
      session.close();
    });
    // Its streams report it.
    session.on("error", leave);
    session.setTimeout(idleMs, () => session.close());
    return session;
  }

  function probe(key: string, endpoint: Endpoint): Probe {
    const { host, port, serverName } = endpoint;
    const socket = tls.connect({
      ...connectUnless(blocked, host),
      host,
      port,
      servername: serverName ?? (isIP(host) === 0 ? host : undefined),
      ca,
      // As in Go, any certificate of the bundle is trusted, also the server's own, which envtest puts there.
      allowPartialTrustChain: true,
      minVersion: "TLSv1.2",
      ALPNProtocols: ["h2", "http/1.1"],
    });
    const outcome = new Promise<ClientHttp2Session | undefined>((resolve, reject) => {
      socket.once("error", reject);
      socket.once("close", () => reject(CLOSED));
      socket.once("secureConnect", () => {
        socket.removeAllListeners("close");
        socket.removeListener("error", reject);
        if (socket.alpnProtocol === "h2") {
          const session = openSession(key, endpoint, socket);
          learn(key, session);
          return resolve(session);
        }
        // Until the first call takes it.
        socket.once("error", () => spare.delete(key));
        learn(key, undefined);
        spare.set(key, socket);
        resolve(undefined);
      });
    }).finally(() => probes.delete(key));
    return { socket, outcome, waiting: 0 };
  }

  return {
    agent,
    async find(endpoint, stop) {
      const key = keyOf(endpoint.host, endpoint.port, endpoint.serverName);
      if (known.has(key)) {
        const session = known.get(key);
        if (!session || !(session.closed || session.destroyed)) return session;
        known.delete(key);
      }
      if (isClosed) throw CLOSED;
      let running = probes.get(key);
      if (!running) probes.set(key, (running = probe(key, endpoint)));
      return waitFor(running, stop);
    },
    forget({ host, port, serverName }, session) {
      const key = keyOf(host, port, serverName);
      if (known.get(key) === session) drop(key);
    },
    close() {
      isClosed = true;
      for (const { socket } of probes.values()) socket.destroy();
      for (const session of known.values()) session?.destroy();
      for (const socket of spare.values()) socket.destroy();
      known.clear();
      spare.clear();
      agent.destroy();
    },
  };
}

/** Node names the host as the server where no other name is given. */
const keyOf = (host: string, port: number | string, serverName: string | undefined): string =>
  `${host} ${port} ${serverName === undefined || serverName === host ? "" : serverName}`;

/** A handshake that no call waits for any more is given up. */
async function waitFor(probe: Probe, stop: AbortSignal): Promise<ClientHttp2Session | undefined> {
  probe.waiting++;
  const stopped = Promise.withResolvers<never>();
  const onStop = (): void => stopped.reject(stop.reason as Error);
  stop.addEventListener("abort", onStop, { once: true });
  try {
    return await Promise.race([probe.outcome, stopped.promise]);
  } finally {
    stop.removeEventListener("abort", onStop);
    if (--probe.waiting === 0 && stop.aborted) probe.socket.destroy();
  }
}

/** Uses the socket of a handshake before it opens another. */
class SpareAgent extends https.Agent {
  readonly #spare: Map<string, TLSSocket>;

  readonly #blocked: BlockedSet | undefined;

  constructor(spare: Map<string, TLSSocket>, blocked: BlockedSet | undefined, options: https.AgentOptions) {
    super(options);
    this.#spare = spare;
    this.#blocked = blocked;
  }

  override createConnection(
    options: https.RequestOptions,
    callback?: (error: Error | null, stream: tls.TLSSocket) => void,
  ): ReturnType<https.Agent["createConnection"]> {
    const key = keyOf(String(options.host), String(options.port), options.servername || undefined);
    const socket = this.#spare.get(key);
    this.#spare.delete(key);
    if (!socket || socket.destroyed)
      return super.createConnection(
        { ...options, ...connectUnless(this.#blocked, String(options.host)) },
        callback as never,
      );
    socket.removeAllListeners("error");
    return socket;
  }
}
