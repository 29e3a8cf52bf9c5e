/**
 * The subresource `kubeconfig` of LogicalCluster: issues credentials of an administrator of that cluster, like
 * TokenRequest does for service accounts.
 *
 * It takes POST, so it needs the permission `create`: users that may only read cannot become administrators. Credentials
 * of the hub would be valid in every cluster; they are only in the data directory.
 */
import { badRequest, HUB, methodNotAllowed, pathNotFound } from "@flotilla/apimachinery";
import type { ConnectHandler } from "@flotilla/apimachinery";

const MINUTE_S = 60;
const DEFAULT_S = 60 * MINUTE_S;
/** Shorter ones might expire before they are used, as with Kubernetes' tokens. */
const MIN_S = 10 * MINUTE_S;
/** The administrator of a cluster renews access daily, so a lost kubeconfig is useless the next day. */
const MAX_S = 24 * 60 * MINUTE_S;

export function createKubeconfigHandler(issue: (cluster: string, lifetimeMs: number) => string): ConnectHandler {
  return async ({ cluster, name, method, query }) => {
    // Only users of the hub may request it: elsewhere the same path would return credentials that the cluster's users
    // are not entitled to.
    if (cluster !== HUB) throw pathNotFound();
    if (method !== "POST") throw methodNotAllowed();
    if (name === HUB)
      throw badRequest(
        "the hub issues no credentials for itself: its administrator's kubeconfig is hub.kubeconfig in the " +
          "data directory; give other users a service account or a certificate",
      );
    const seconds = lifetimeOf(query.get("expirationSeconds"));
    return {
      status: 201,
      headers: { "content-type": "application/yaml", "cache-control": "no-store" },
      body: new TextEncoder().encode(issue(name, seconds * 1000)),
    };
  };
}

function lifetimeOf(requested: string | null): number {
  if (requested === null) return DEFAULT_S;
  const seconds = Number(requested);
  if (!Number.isInteger(seconds) || seconds < MIN_S || seconds > MAX_S)
    throw badRequest(`expirationSeconds must be a whole number from ${MIN_S} to ${MAX_S}`);
  return seconds;
}
