/**
 * Whose a bearer token is: one of those that were handed to the server, good for one cluster or for all, a bootstrap
 * token, or a service account's.
 *
 * Given tokens are kept and compared as SHA-256 digests, so neither memory dumps of the table nor timing give one away.
 */
import { hash } from "node:crypto";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { UserInfo } from "../request/request.ts";
import type { AccountTokens, TokenOutcome } from "./account-tokens.ts";
import type { BootstrapTokens } from "./bootstrap-tokens.ts";
import { AUTHENTICATED } from "./subjects.ts";

export interface StaticToken {
  token: string;
  user: string;
  groups?: readonly string[];
  uid?: string;
  /** The logical cluster in which it is good; unset for all. */
  cluster?: string;
}

export interface BearerTokens {
  /** From now on, as long as the server runs and the token's cluster is there. */
  add(token: StaticToken): void;
  /**
   * Without audiences the token must be for this API. The text of a refusal is for TokenReviews: who sends a bad token
   * hears nothing.
   */
  authenticate(cluster: string, token: string, audiences?: readonly string[], digest?: string): Promise<TokenOutcome>;
}

/** What tokens are known by. Who sends the same one again and again may keep it. */
export const tokenDigest = (token: string): string => hash("sha256", token, "base64url");

interface Known {
  user: UserInfo;
  cluster: string | undefined;
  /** Aborted when that cluster is gone: a later one of the same name is another. */
  removed: AbortSignal | undefined;
}

export function createBearerTokens(
  options: {
    tokens?: readonly StaticToken[];
    accounts?: { tokens: AccountTokens; bootstrap: BootstrapTokens; clusters: ClusterRegistry };
  } = {},
): BearerTokens {
  const { accounts } = options;
  const byDigest = new Map<string, Known>();
  const tokens: BearerTokens = {
    add({ token, user, groups = [], uid, cluster }) {
      const home = cluster === undefined ? undefined : accounts?.clusters.get(cluster);
      byDigest.set(tokenDigest(token), { user: authenticatedUser(user, groups, uid), cluster, removed: home?.removed });
    },
    async authenticate(clusterName, token, wanted, digest = tokenDigest(token)) {
      const known = byDigest.get(digest);
      const api = accounts?.tokens.audiences ?? [];
      // These tokens say nothing about audiences: they are for this API.
      const forApi = (user: UserInfo): TokenOutcome => {
        const audiences = wanted ? api.filter((audience) => wanted.includes(audience)) : api;
        return wanted && audiences.length === 0 ? { error: undefined } : { user, audiences };
      };
      if (known && (known.cluster === undefined || (known.cluster === clusterName && !known.removed?.aborted)))
        return forApi(known.user);
      const cluster = accounts?.clusters.get(clusterName);
      const bootstrapper = cluster && accounts?.bootstrap.authenticate(cluster, token);
      if (bootstrapper) return forApi(bootstrapper);
      return accounts && cluster
        ? accounts.tokens.authenticate(cluster, token, wanted ?? api, digest)
        : { error: undefined };
    },
  };
  for (const token of options.tokens ?? []) tokens.add(token);
  // A cluster that is made again under the same name is another: its predecessor's tokens must not open it.
  accounts?.clusters.subscribe(({ type, cluster }) => {
    if (type !== "removed") return;
    for (const [digest, known] of byDigest) if (known.cluster === cluster.name) byDigest.delete(digest);
  });
  return tokens;
}

export function authenticatedUser(name: string, groups: readonly string[], uid?: string): UserInfo {
  return Object.freeze({ name, uid, groups: Object.freeze([...new Set([...groups, AUTHENTICATED])]) });
}
