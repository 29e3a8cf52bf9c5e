/**
 * Opens a connection to a server through a proxy: a socket whose other end is the server. HTTP and HTTPS proxies
 * receive a CONNECT, also for servers without TLS; SOCKS5 proxies resolve the server's name themselves.
 */
import { defined } from "@flotilla/base";
import https from "node:https";
import net from "node:net";
import type { Socket } from "node:net";
import type { Clock } from "@flotilla/base";
import { UnreachableError } from "./errors.ts";
import { explainFailure } from "./explain-failure.ts";
import { handshakeSocks5 } from "./socks5.ts";

/** As in `http-sockets.ts`. */
const http = process.getBuiltinModule("node:http");

const TIMEOUT_MS = 10_000;
/** TCP keep-alive detects a dead peer on an idle connection. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: 30_000 } as const;

export interface Target {
  host: string;
  port: number;
}

/** A proxy, and additional headers for its CONNECT request; SOCKS5 has no headers. */
export interface Proxy {
  url: URL;
  headers?: Readonly<Record<string, string | readonly string[]>>;
}

export async function openTunnel({ url: proxy, headers = {} }: Proxy, target: Target, clock: Clock): Promise<Socket> {
  const doing = `through the proxy ${proxy.protocol}//${proxy.host}`;
  const controller = new AbortController();
  const timer = clock.after(TIMEOUT_MS, () =>
    controller.abort(new UnreachableError(`no response within ${TIMEOUT_MS / 1000} s`)),
  );
  try {
    return proxy.protocol.startsWith("socks5")
      ? await tunnelSocks(proxy, target, controller.signal)
      : await tunnelConnect(proxy, headers, target, controller.signal);
  } catch (error) {
    throw explainFailure(doing, controller.signal.aborted ? controller.signal.reason : error);
  } finally {
    timer.cancel();
  }
}

function tunnelConnect(
  proxy: URL,
  headers: NonNullable<Proxy["headers"]>,
  { host, port }: Target,
  stop: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const authority = `${net.isIPv6(host) ? `[${host}]` : host}:${port}`;
    const credentials = credentialsOf(proxy);
    const request = (proxy.protocol === "https:" ? https : http).request({
      host: bareHost(proxy),
      port: portOf(proxy),
      method: "CONNECT",
      path: authority,
      headers: {
        "user-agent": "flotilla",
        ...copyOf(headers),
        host: authority,
        ...defined({
          "proxy-authorization": credentials
            ? `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString("base64")}`
            : undefined,
        }),
      },
      agent: false,
      signal: stop,
      ...KEEP_ALIVE,
    });
    request.once("connect", (response, socket, head) => {
      const { statusCode = 0, statusMessage = "" } = response;
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        return reject(
          new UnreachableError(
            `it refused to connect to ${authority}: ${statusCode} ${statusMessage}${statusCode === 407 ? "; set a user and password in its URL" : ""}`,
          ),
        );
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.once("response", (response) => {
      response.destroy();
      reject(
        new UnreachableError(
          `it responded with ${response.statusCode ?? 0} instead of connecting; is it an HTTP proxy?`,
        ),
      );
    });
    request.once("error", reject);
    request.end();
  });
}

/** Node modifies the lists it is passed. */
function copyOf(headers: NonNullable<Proxy["headers"]>): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      typeof value === "string" ? value : [...value],
    ]),
  );
}

async function tunnelSocks(proxy: URL, target: Target, stop: AbortSignal): Promise<Socket> {
  const socket = net.connect({ host: bareHost(proxy), port: portOf(proxy), ...KEEP_ALIVE });
  try {
    await handshakeSocks5(socket, target, credentialsOf(proxy), stop);
    return socket;
  } catch (error) {
    // Errors of an abandoned socket are ignored.
    socket.on("error", () => {}).destroy();
    throw error;
  }
}

function credentialsOf(proxy: URL): { user: string; password: string } | undefined {
  if (proxy.username === "") return undefined;
  return { user: decodeURIComponent(proxy.username), password: decodeURIComponent(proxy.password) };
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function portOf(url: URL): number {
  return url.port === "" ? (PORTS[url.protocol] ?? 1080) : Number(url.port);
}
