/**
 * Identifies the user of a bearer token: a static token (for one cluster or for all), an administrator's token, a
 * bootstrap token, or a service account token.
 *
 * Static tokens are stored and compared as SHA-256 digests, so neither a memory dump of the table nor timing reveals a
 * token. A token that this server issued for another cluster is not sent to others, whose failure would delay it.
 */
import { AUTHENTICATED_GROUP, MASTERS_GROUP } from "@flotilla/kubernetes";
import { systemClock } from "@flotilla/base";
import { hash } from "node:crypto";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import { clusterId } from "../clusters/layer.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { UserInfo } from "../request/user-info.ts";
import type { AdministratorTokens } from "./administrator-tokens.ts";
import type { AccountTokens, TokenOutcome } from "./account-tokens.ts";
import type { ExternalTokens } from "./external-tokens.ts";
import type { BootstrapTokens } from "./bootstrap-tokens.ts";

export interface StaticToken {
  token: string;
  user: string;
  groups?: readonly string[];
  uid?: string;
  /** The logical cluster that accepts the token; unset for all. */
  cluster?: string;
  /** Unset never expires. */
  expiresMs?: number;
}

export interface BearerTokens {
  /** Accepts the token while the server runs and the token's cluster exists. */
  add(token: StaticToken): void;
  /**
   * Without audiences the token must be for this API. The error text is for TokenReviews only; clients that send a bad
   * token do not receive it. `from` is the address of the client. Known tokens are answered at once.
   */
  authenticate(
    cluster: string,
    token: string,
    audiences?: readonly string[],
    digest?: string,
    from?: string,
  ): TokenOutcome | Promise<TokenOutcome>;
  /** The one cluster in which a token may be valid; undefined when it does not say. The token is not checked. */
  homeOf(token: string, digest?: string): Promise<string | undefined>;
}

/** The digest that identifies a token. A caller that sends the same token repeatedly may cache it. */
export const tokenDigest = (token: string): string => hash("sha256", token, "base64url");

const ADMINISTRATOR = authenticatedUser("admin", [MASTERS_GROUP]);

interface Known {
  user: UserInfo;
  cluster: string | undefined;
  /** Aborted when that cluster is removed: a later cluster of the same name must not accept the token. */
  removed: AbortSignal | undefined;
  expiresMs: number;
}

interface AskedToken {
  token: string;
  wanted: readonly string[] | undefined;
  digest: string;
  from: string;
}

export function createBearerTokens(
  options: {
    tokens?: readonly StaticToken[];
    accounts?: { tokens: AccountTokens; bootstrap: BootstrapTokens; clusters: ClusterRegistry };
    /** Tokens of administrators; unset: none. */
    administrators?: AdministratorTokens | undefined;
    /** Tokens that others issue; their users are the same in every cluster, and each cluster's roles decide. */
    external?: ExternalTokens | undefined;
    nowMs?: (() => number) | undefined;
  } = {},
): BearerTokens {
  const { accounts, administrators, external, nowMs = systemClock.now } = options;
  const byDigest = new Map<string, Known>();

  /** A token of a service account, or of others: its signature has to be checked. */
  const verify = async (
    cluster: LogicalCluster | undefined,
    { token, wanted, digest, from }: AskedToken,
    others: ExternalTokens | undefined,
  ): Promise<TokenOutcome> => {
    const api = accounts?.tokens.audiences ?? [];
    const own: TokenOutcome =
      accounts && cluster
        ? await accounts.tokens.authenticate(cluster, token, wanted ?? api, digest)
        : { error: undefined };
    if (!others || "user" in own) return own;
    // Other clusters may have the same issuer; the key id is different.
    const mayBeOurs = own.error !== undefined || !cluster;
    if (mayBeOurs && (await accounts?.tokens.homeOf(token, accounts.clusters.all()))) return own;
    return (await others.authenticate(token, wanted, digest, from)) ?? own;
  };

  const tokens: BearerTokens = {
    add({ token, user, groups = [], uid, cluster, expiresMs = Number.POSITIVE_INFINITY }) {
      const home = cluster === undefined ? undefined : accounts?.clusters.get(cluster);
      for (const [digest, known] of byDigest) if (known.expiresMs <= nowMs()) byDigest.delete(digest);
      byDigest.set(tokenDigest(token), {
        user: authenticatedUser(user, groups, uid),
        cluster,
        removed: home?.removed,
        expiresMs,
      });
    },
    authenticate(clusterName, token, wanted, digest = tokenDigest(token), from = "") {
      const found = byDigest.get(digest);
      const known = found && found.expiresMs > nowMs() ? found : undefined;
      const api = accounts?.tokens.audiences ?? [];
      // These tokens carry no audiences: they are for this API.
      const forApi = (user: UserInfo): TokenOutcome => {
        const audiences = wanted ? api.filter((audience) => wanted.includes(audience)) : api;
        return wanted && audiences.length === 0 ? { error: undefined } : { user, audiences };
      };
      if (known && (known.cluster === undefined || (known.cluster === clusterName && !known.removed?.aborted)))
        return forApi(known.user);
      const cluster = accounts?.clusters.get(clusterName);
      const scope = administrators?.read(token, digest);
      if (scope && (scope.clusterId === undefined || (cluster && clusterId(cluster) === scope.clusterId)))
        return forApi(ADMINISTRATOR);
      const bootstrapper = cluster && accounts?.bootstrap.authenticate(cluster, token);
      if (bootstrapper) return forApi(bootstrapper);
      const asking = { token, wanted, digest, from };
      return verify(cluster, asking, found || scope ? undefined : external);
    },
    async homeOf(token, digest = tokenDigest(token)) {
      const known = byDigest.get(digest);
      if (known) return known.cluster;
      const scope = administrators?.read(token, digest);
      if (scope)
        return scope.clusterId && accounts?.clusters.all().find((each) => clusterId(each) === scope.clusterId)?.name;
      return (await accounts?.tokens.homeOf(token, accounts.clusters.all()))?.name;
    },
  };
  for (const token of options.tokens ?? []) tokens.add(token);
  // A cluster that is recreated under the same name is a different cluster and must not accept its predecessor's
  // tokens.
  accounts?.clusters.subscribe(({ type, cluster }) => {
    if (type !== "removed") return;
    for (const [digest, known] of byDigest) if (known.cluster === cluster.name) byDigest.delete(digest);
  });
  return tokens;
}

export function authenticatedUser(name: string, groups: readonly string[], uid?: string): UserInfo {
  return Object.freeze({ name, uid, groups: Object.freeze([...new Set([...groups, AUTHENTICATED_GROUP])]) });
}
