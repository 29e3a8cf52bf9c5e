/**
 * Service account tokens: issued for TokenRequests and token Secrets, and verified on every request that presents one.
 *
 * A signature is verified once and then cached by the digest of its token, so neither memory nor logs hold tokens. The
 * service account and the object that the token is bound to are checked on every request, which costs two lookups in
 * memory.
 */
import { AUTHENTICATED_GROUP, accountGroups, accountUser } from "@flotilla/kubernetes";
import { formatTime, defined } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import type { UserInfo } from "../request/user-info.ts";
import { LEGACY_ISSUER, boundClaims, legacyClaims, readClaims } from "./account-claims.ts";
import type { AccountClaims, NamedObject, TokenSpec } from "./account-claims.ts";
import { decodeToken, hasGoodSignature, signToken } from "./jwt.ts";
import { quoteList } from "./rbac-rules.ts";
import { createSigningKey, keyIdOf, openSigningKeys, webKeyOf } from "./signing-key.ts";
import type { SigningKey } from "./signing-key.ts";
import { createLivenessCheck } from "./token-liveness.ts";
import type { CheckedToken } from "./token-liveness.ts";

/**
 * The user and audiences of a token, or the reason for rejecting it. An undefined error means that the token was not
 * issued by this server.
 */
export type TokenOutcome = { user: UserInfo; audiences: readonly string[] } | { error: string | undefined };

export interface AccountTokenOptions {
  store: ObjectStore;
  clock: Clock;
  issuer?: string;
  /**
   * PEM of one or more keys: the first signs, all verify. Read when the first token is issued or verified. Defaults to a
   * key that is valid until the process exits.
   */
  signingKey?: () => Promise<string>;
  /** Called at most once a day per Secret when its token is used, so that users can find unused tokens. */
  onSecretTokenUsed?(cluster: LogicalCluster, namespace: string, secret: string, day: string): void;
}

export interface AccountTokens {
  readonly issuer: string;
  /** The default audiences of a token. */
  readonly audiences: readonly string[];
  issue(cluster: LogicalCluster, spec: TokenSpec): Promise<string>;
  /** Issues a token for a Secret. The token never expires and is invalidated when the Secret is deleted. */
  issueForSecret(cluster: LogicalCluster, namespace: string, account: NamedObject, secret: string): Promise<string>;
  /** `digest` is the SHA-256 of the token. */
  authenticate(
    cluster: LogicalCluster,
    token: string,
    audiences: readonly string[],
    digest: string,
  ): Promise<TokenOutcome>;
  /** Whether this server signed the token for this cluster; it may have expired. */
  isIssued(cluster: LogicalCluster, token: string): Promise<boolean>;
  /** The one of these clusters whose tokens have the key id of the token. The token is not checked. */
  homeOf(token: string, clusters: readonly LogicalCluster[]): Promise<LogicalCluster | undefined>;
  /** The public keys that verify the tokens of a cluster, for external verifiers. */
  keySet(cluster: LogicalCluster): Promise<{ keys: Record<string, string>[] }>;
}

/** The default issuer, as in most clusters. */
export const SERVICE_ACCOUNT_ISSUER = "https://kubernetes.default.svc.cluster.local";
const MAX_REMEMBERED = 10_000;
/** `2024-05-01` */
const DAY_LENGTH = 10;
const EXTRA = "authentication.kubernetes.io/";

/** A token with a valid signature. */
interface Verified extends CheckedToken {
  user: UserInfo;
  /** For tokens in Secrets: the day of its last use. */
  usedOn?: string;
}

export function createAccountTokens({
  store,
  clock,
  issuer = SERVICE_ACCOUNT_ISSUER,
  signingKey = createSigningKey,
  onSecretTokenUsed,
}: AccountTokenOptions): AccountTokens {
  let opening: Promise<[SigningKey, ...SigningKey[]]> | undefined;
  const keyIds = new WeakMap<LogicalCluster, Map<SigningKey, string>>();
  const remembered = new Map<string, Verified>();
  const audiences: readonly string[] = [issuer];
  const problemOf = createLivenessCheck(store, clock);

  const openKeys = (): Promise<[SigningKey, ...SigningKey[]]> => {
    opening ??= signingKey().then(openSigningKeys);
    // If reading the keys fails, the next caller reads them again.
    opening.catch(() => (opening = undefined));
    return opening;
  };
  const idOf = (key: SigningKey, cluster: LogicalCluster): string => {
    let ids = keyIds.get(cluster);
    if (!ids) keyIds.set(cluster, (ids = new Map()));
    let id = ids.get(key);
    if (id === undefined) ids.set(key, (id = keyIdOf(key, cluster)));
    return id;
  };
  /** The key of this cluster that a token names. */
  const keyNamed = (keys: readonly SigningKey[], kid: string, cluster: LogicalCluster): SigningKey | undefined =>
    keys.find((key) => idOf(key, cluster) === kid);

  const verify = async (
    cluster: LogicalCluster,
    token: string,
    digest: string,
  ): Promise<Verified | { error: string | undefined }> => {
    const known = remembered.get(digest);
    if (known) {
      // Evict the least recently used token first.
      remembered.delete(digest);
      remembered.set(digest, known);
      return known.cluster === cluster ? known : { error: "invalid signature, no keys found" };
    }
    const decoded = decodeToken(token);
    if (!decoded || (decoded.payload.iss !== issuer && decoded.payload.iss !== LEGACY_ISSUER))
      return { error: undefined };
    const key = keyNamed(await openKeys(), decoded.kid, cluster);
    if (decoded.kid !== "" && !key) return { error: "invalid signature, no keys found" };
    // Only the key id ties a token to a cluster, and every token issued here has one.
    if (!key || !hasGoodSignature(key, decoded)) return { error: "go-jose/go-jose: error in cryptographic primitive" };
    const claims = readClaims(decoded.payload);
    if (!claims) return { error: "service account token claims could not be validated" };
    const verified: Verified = { cluster, claims, user: userOf(claims) };
    remembered.set(digest, verified);
    const [oldest] = remembered.keys();
    if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    return verified;
  };

  const noteUse = (verified: Verified): void => {
    const day = formatTime(clock.now()).slice(0, DAY_LENGTH);
    if (verified.usedOn === day) return;
    verified.usedOn = day;
    const { cluster, claims } = verified;
    if (claims.secret) onSecretTokenUsed?.(cluster, claims.namespace, claims.secret.name, day);
  };

  return {
    issuer,
    audiences,
    async issue(cluster, spec) {
      const [key] = await openKeys();
      return signToken(key, idOf(key, cluster), boundClaims(issuer, spec));
    },
    async issueForSecret(cluster, namespace, account, secret) {
      const [key] = await openKeys();
      return signToken(key, idOf(key, cluster), legacyClaims(namespace, account, secret));
    },
    async authenticate(cluster, token, wanted, digest) {
      const verified = await verify(cluster, token, digest);
      if ("error" in verified) return verified;
      const offered = verified.claims.audiences?.length ? verified.claims.audiences : audiences;
      const shared = offered.filter((audience) => wanted.includes(audience));
      if (shared.length === 0)
        return {
          error: `token audiences ${quoteList(offered)} is invalid for the target audiences ${quoteList(wanted)}`,
        };
      const problem = problemOf(verified, token);
      if (problem !== undefined) return { error: problem };
      if (verified.claims.isLegacy) noteUse(verified);
      return { user: verified.user, audiences: shared };
    },
    async isIssued(cluster, token) {
      const decoded = decodeToken(token);
      if (!decoded) return false;
      const key = keyNamed(await openKeys(), decoded.kid, cluster);
      return key !== undefined && hasGoodSignature(key, decoded);
    },
    async homeOf(token, clusters) {
      const decoded = decodeToken(token);
      if (!decoded || decoded.kid === "") return undefined;
      const keys = await openKeys();
      return clusters.find((cluster) => keyNamed(keys, decoded.kid, cluster) !== undefined);
    },
    async keySet(cluster) {
      return { keys: (await openKeys()).map((key) => webKeyOf(key, idOf(key, cluster))) };
    },
  };
}

function userOf({ namespace, account, pod, node, id, isLegacy }: AccountClaims): UserInfo {
  const extra: Record<string, readonly string[]> = defined({
    [`${EXTRA}credential-id`]: id !== undefined && !isLegacy ? [`JTI=${id}`] : undefined,
    [`${EXTRA}node-name`]: node ? [node.name] : undefined,
    [`${EXTRA}node-uid`]: node && node.uid !== "" ? [node.uid] : undefined,
    [`${EXTRA}pod-name`]: pod ? [pod.name] : undefined,
    [`${EXTRA}pod-uid`]: pod ? [pod.uid] : undefined,
  });
  return Object.freeze({
    name: accountUser(namespace, account.name),
    uid: account.uid,
    groups: Object.freeze([...accountGroups(namespace), AUTHENTICATED_GROUP]),
    extra: Object.keys(extra).length > 0 ? Object.freeze(extra) : undefined,
  });
}
