/**
 * The headers with which an aggregated server learns who asks. It trusts them because the connection has the client
 * certificate of this cluster's front proxy (`requestheader-…` in the ConfigMap extension-apiserver-authentication).
 */
import { internalError } from "@flotilla/apimachinery";
import type { UserInfo } from "../request/user-info.ts";

/** The prefix of the common names of front-proxy certificates; the id of the cluster follows. */
const FRONT_PROXY_PREFIX = "flotilla-front-proxy:";

/** The common name of the certificate with which this server asks aggregated servers on behalf of a cluster. */
export const frontProxyName = (clusterId: string): string => `${FRONT_PROXY_PREFIX}${clusterId}`;

export function identityHeaders({ name, uid, groups, extra = {} }: UserInfo): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { "x-remote-user": headerValue(name) };
  if (uid !== undefined && uid !== "") headers["x-remote-uid"] = headerValue(uid);
  if (groups.length > 0) headers["x-remote-group"] = groups.map(headerValue);
  for (const [key, values] of Object.entries(extra))
    headers[`x-remote-extra-${escapedKey(key)}`] = values.map(headerValue);
  return headers;
}

/** Names of users may have any characters; headers carry them as UTF-8, as those of Go do. */
function headerValue(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters that a header cannot carry.
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(text))
    throw internalError("the name of the user or one of its groups has characters that no header can carry");
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Bytes that a header name cannot have are percent-encoded, and so is the percent sign. */
function escapedKey(key: string): string {
  return Buffer.from(key.toLowerCase(), "utf8")
    .toString("latin1")
    .replaceAll(/[^a-z0-9!#$&'*+\-.^_`|~]/g, (byte) =>
      `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`.toLowerCase(),
    );
}
