/** The sockets of connections to a server: TLS, and HTTP/1.1 agents, each through the proxy if there is one. */
import { omitZero, defined } from "@flotilla/base";
import type { Agent } from "node:http";
import type http2 from "node:http2";
import https from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import type { Clock } from "@flotilla/base";
import { connectUnless } from "./blocked-addresses.ts";
import type { BlockedSet } from "./blocked-addresses.ts";
import { UnreachableError } from "./errors.ts";
import { KEEP_ALIVE, openTunnel } from "./tunnel.ts";
import type { Proxy } from "./tunnel.ts";

/**
 * An import would create a module namespace of `node:http`, for which Node also loads its fetch and WebSocket: 10 MB.
 */
export const http = process.getBuiltinModule("node:http");

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
  /** Addresses that must not be connected to. */
  blocked?: BlockedSet;
}

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_HTTP1_SOCKETS = 256;

function tlsOptions(server: URL, options: TlsOptions): tls.ConnectionOptions {
  const name = options.serverName ?? hostOf(server);
  return {
    host: hostOf(server),
    port: portOf(server),
    minVersion: "TLSv1.2",
    rejectUnauthorized: !options.insecure,
    // An IP address cannot be used for SNI; it is only compared with the certificate.
    ...defined({
      servername: isIP(name) === 0 ? name : undefined,
      checkServerIdentity:
        isIP(name) === 0
          ? undefined
          : (_host: string, certificate: tls.PeerCertificate) => tls.checkServerIdentity(name, certificate),
    }),
    ca: options.ca,
    // As in Go, any of these certificates is trusted, also an intermediate one.
    allowPartialTrustChain: true,
    cert: options.cert,
    key: options.key,
    ...connectUnless(options.blocked, hostOf(server)),
  };
}

export async function openTls(
  server: URL,
  options: TlsOptions,
  clock: Clock,
  proxy: Proxy | undefined,
  connectMs = CONNECT_TIMEOUT_MS,
): Promise<tls.TLSSocket> {
  const through = proxy && (await openTunnel(proxy, { host: hostOf(server), port: portOf(server) }, clock));
  const socket = tls.connect({
    ...tlsOptions(server, options),
    ...omitZero({ socket: through }),
    ALPNProtocols: ["h2", "http/1.1"],
  });
  socket.setNoDelay(true);
  await firstEvent(socket, "secureConnect", clock, connectMs);
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
export function firstEvent<T>(
  emitter: tls.TLSSocket | http2.ClientHttp2Session,
  name: string,
  clock: Clock,
  limitMs = CONNECT_TIMEOUT_MS,
): Promise<T> {
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
    const timer = clock.after(limitMs, () => {
      settle(() =>
        reject(
          new UnreachableError(
            `the server did not respond within ${limitMs / 1000} s; check the address, routes and firewalls`,
          ),
        ),
      );
      emitter.on("error", () => {}).destroy();
    });
    emitter.on(name, onEvent).on("error", onError).on("close", onClose);
  });
}

export function hostOf(server: URL): string {
  return server.hostname.replace(/^\[|\]$/g, "");
}

export function portOf(server: URL): number {
  return Number(server.port || (server.protocol === "http:" ? 80 : 443));
}
