/**
 * Which requests of browsers count: those of our own page, on a host name that is ours. Pure.
 *
 * A browser sends the cookie with every request, also with those that another page causes. Therefore the cookie counts
 * only together with proof that our own page sent the request.
 */
import type { ApiRequest } from "@flotilla/apiserver";

export type CheckedRequest = Pick<ApiRequest, "method" | "headers">;

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Without this check a page of another site could resolve its own name to this machine and read everything. `names` are in
 * lower case, may begin with `*.`, and have brackets around IPv6 addresses.
 */
export function isOurHost({ headers }: CheckedRequest, names: Pick<ReadonlySet<string>, "has">): boolean {
  const host = hostOf(headers);
  const name = host.replace(/:\d+$/, "").toLowerCase();
  return LOOPBACK.has(name) || names.has(name) || names.has(`*${name.slice(name.indexOf("."))}`);
}

/** HTTP/2 has the host in a pseudo header. */
const hostOf = (headers: CheckedRequest["headers"]): string => headers[":authority"] ?? headers["host"] ?? "";

/** Whether our own page sent the request. Browsers set these headers, and pages cannot. */
export function isSameOrigin({ headers }: CheckedRequest, scheme: "http" | "https"): boolean {
  const origin = headers["origin"];
  if (origin !== undefined) return origin === `${scheme}://${hostOf(headers)}`;
  const site = headers["sec-fetch-site"];
  return site === "same-origin";
}

/** A link on another page may open ours, which shows nothing before it has asked for the session itself. */
export const isNavigation = ({ method, headers }: CheckedRequest): boolean =>
  method === "GET" && headers["sec-fetch-mode"] === "navigate";

/**
 * The name carries the port, because browsers send cookies of one port to all others of the host. `__Secure-` where the
 * browser accepts it: on TLS, and on loopback except in Safari.
 */
export function cookieName(request: CheckedRequest, scheme: "http" | "https"): { name: string; secure: boolean } {
  const port = /:(\d+)$/.exec(hostOf(request.headers))?.[1] ?? "";
  const agent = request.headers["user-agent"] ?? "";
  const isSafari = agent.includes("Safari/") && !agent.includes("Chrome/");
  const secure = scheme === "https" || !isSafari;
  return { name: `${secure ? "__Secure-" : ""}flotilla-${port}`, secure };
}

export function readCookie({ headers }: CheckedRequest, name: string): string | undefined {
  for (const part of (headers["cookie"] ?? "").split(";")) {
    const equals = part.indexOf("=");
    if (equals >= 0 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim();
  }
  return undefined;
}

/**
 * Without a path the cookie belongs to the folder of the request that sets it, `/ui`, also below a prefix. Browsers then
 * never send it to the proxies of pods, services and members.
 */
export const setCookie = ({ name, secure }: { name: string; secure: boolean }, value: string): string =>
  `${name}=${value}; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}${value === "" ? "; Max-Age=0" : ""}`;
