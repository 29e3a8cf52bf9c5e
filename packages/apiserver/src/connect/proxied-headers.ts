/**
 * The headers of proxied requests and responses, and those that a proxied workload receives. The workload is not trusted: credentials and impersonation
 * headers would let it act as the client. Cookies are kept, except those of sessions of the web UI.
 */
import { setOwn } from "@flotilla/base";

type Headers = Readonly<Record<string, string | undefined>>;

/** Credentials, and the headers with which front proxies identify the user of a request. */
const SECRET: ReadonlySet<string> = new Set(["authorization", "x-remote-user", "x-remote-uid", "x-remote-group"]);
const SECRET_PREFIXES = ["impersonate-", "x-remote-extra-"] as const;
/** These headers apply to the connection, not to the request. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "proxy-connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const PROTOCOLS = "sec-websocket-protocol";
/** Browsers cannot set headers on a WebSocket, so they put their token among the protocols. */
const TOKEN_PROTOCOL = "base64url.bearer.authorization.k8s.io.";

export function proxiedHeaders(headers: Headers): Headers {
  const named = new Set(listOf(headers.connection).map((name) => name.toLowerCase()));
  const kept: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(headers)) {
    const isDropped =
      name.startsWith(":") ||
      SECRET.has(name) ||
      HOP_BY_HOP.has(name) ||
      named.has(name) ||
      SECRET_PREFIXES.some((prefix) => name.startsWith(prefix));
    if (isDropped) continue;
    const passed = name === PROTOCOLS ? withoutToken(value) : name === "cookie" ? withoutSession(value) : value;
    if (passed !== "" || value === "") setOwn(kept, name, passed);
  }
  return kept;
}

/** Bodies are passed on as they are; a coding would have to be undone for tables and watches of this server. */
const NOT_SENT: ReadonlySet<string> = new Set(["host", "content-length", "accept-encoding", "expect"]);

/** What is sent to another server on a connection of this server. */
export function sentHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(proxiedHeaders(headers)).filter(([name]) => !NOT_SENT.has(name)));
}

const OF_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
  "content-length",
  "audit-id",
]);

/** What a client gets of another server's response. */
export function passedOn(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.has(name)));
}

function withoutToken(protocols: string | undefined): string {
  return listOf(protocols)
    .filter((protocol) => !protocol.startsWith(TOKEN_PROTOCOL))
    .join(", ");
}

/** Browsers do not send the cookie of the web UI here, because it is for another path; other clients might. */
function withoutSession(cookies = ""): string {
  return cookies
    .split(";")
    .map((cookie) => cookie.trim())
    .filter((cookie) => !/^(?:__Secure-)?flotilla-\d*=/.test(cookie))
    .join("; ");
}

function listOf(value = ""): string[] {
  return value.split(",").map((item) => item.trim());
}
