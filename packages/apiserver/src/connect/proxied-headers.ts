/**
 * The request headers that a proxied workload receives. The workload is not trusted: credentials and impersonation
 * headers would let it act as the client. Cookies are kept, since nothing here reads them.
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
    if (!isDropped) setOwn(kept, name, name === PROTOCOLS ? withoutToken(value) : value);
  }
  return kept;
}

function withoutToken(protocols: string | undefined): string {
  return listOf(protocols)
    .filter((protocol) => !protocol.startsWith(TOKEN_PROTOCOL))
    .join(", ");
}

function listOf(value = ""): string[] {
  return value.split(",").map((item) => item.trim());
}
