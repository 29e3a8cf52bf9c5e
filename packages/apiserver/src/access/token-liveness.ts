/**
 * Checks whether a token with a valid signature is still accepted: its lifetime, its service account, and the object it
 * is bound to.
 *
 * Every request runs this check. Entries of the store are immutable, so if the entries are the same ones as last time,
 * they are still valid.
 */
import { timingSafeEqual } from "node:crypto";
import { isObject } from "@flotilla/base";
import type { Clock, JsonObject } from "@flotilla/base";
import type { CachedEntry } from "../store/cache.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { metadataOf } from "../codec/metadata.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { objectIn } from "../codec/render.ts";
import { keyOf } from "../resources/resources.ts";
import { textOf } from "../codec/text.ts";
import type { AccountClaims, NamedObject } from "./account-claims.ts";

export interface CheckedToken {
  readonly cluster: LogicalCluster;
  readonly claims: AccountClaims;
  /** Computed on first use. */
  needed?: readonly Needed[];
  /** The entries that the token needs, as of the last successful check. */
  alive?: readonly CachedEntry[];
}

/** Allows for clock skew; also how long an object that is being deleted still counts. */
const LEEWAY_SECONDS = 60;
const INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since";

/** Returns the check: the reason why a token is no longer accepted, or undefined when it is. */
export function createLivenessCheck(
  store: ObjectStore,
  clock: Clock,
): (checked: CheckedToken, token: string) => string | undefined {
  return (checked, token) => {
    const { cluster, claims } = checked;
    const nowSeconds = Math.floor(clock.now() / 1000);
    const late = lifetimeProblem(claims, nowSeconds);
    if (late !== undefined) return late;
    const entries: CachedEntry[] = [];
    let isTerminating = false;
    for (const needed of (checked.needed ??= neededBy(claims))) {
      const resource = cluster.table.resource("", needed.plural);
      const entry =
        resource && store.find(cluster, resource, keyOf(resource, cluster.name, needed.namespace, needed.name)).entry;
      if (!entry) return needed.whenGone;
      if (entry === checked.alive?.[entries.push(entry) - 1]) continue;
      const object = objectIn(entry, resource.storage);
      const problem =
        identityProblem(needed, object) ??
        (claims.isLegacy && needed.plural === "secrets" ? secretProblem(object, token, claims) : undefined);
      if (problem !== undefined) return problem;
      const { deletionTimestamp } = metadataOf(object);
      if (typeof deletionTimestamp !== "string") continue;
      isTerminating = true;
      if (claims.isLegacy || Date.parse(deletionTimestamp) / 1000 < nowSeconds - LEEWAY_SECONDS)
        return needed.whenTerminating;
    }
    // An object that is being deleted counts for one minute only, so it is checked again each time.
    if (isTerminating) delete checked.alive;
    else checked.alive = entries;
    return undefined;
  };
}

function lifetimeProblem({ lifetime }: AccountClaims, nowSeconds: number): string | undefined {
  if (!lifetime) return undefined;
  if (nowSeconds > lifetime.expires + LEEWAY_SECONDS) return "service account token has expired";
  if (nowSeconds < lifetime.notBefore - LEEWAY_SECONDS) return "service account token is not valid yet";
  return nowSeconds < lifetime.issuedAt - LEEWAY_SECONDS ? "service account token is issued in the future" : undefined;
}

interface Needed extends NamedObject {
  plural: string;
  namespace: string | undefined;
  whenGone: string;
  whenTerminating: string;
  whenUidDiffers: (uid: string) => string;
}

/** The objects that must exist. The node of a pod's token is only reported, because the pod is bound to it anyway. */
function neededBy({ namespace, account, pod, secret, node, isLegacy }: AccountClaims): Needed[] {
  const invalidated = isLegacy ? "Token has been invalidated" : "service account token has been invalidated";
  const bound = (what: string, plural: string, object: NamedObject, home: string | undefined): Needed => ({
    ...object,
    plural,
    namespace: home,
    whenGone: invalidated,
    whenTerminating: invalidated,
    whenUidDiffers: (uid) => `${what} UID (${uid}) does not match service account ${what} ref claim (${object.uid})`,
  });
  const owner = isLegacy ? "ServiceAccount" : "service account";
  const needed: Needed[] = [
    {
      ...account,
      plural: "serviceaccounts",
      namespace,
      whenGone: `serviceaccounts ${JSON.stringify(account.name)} not found`,
      whenTerminating: `${owner} ${namespace}/${account.name} has been deleted`,
      whenUidDiffers: (uid) => `${owner} UID (${uid}) does not match claim (${account.uid})`,
    },
  ];
  if (secret) needed.push(bound("secret", "secrets", secret, namespace));
  if (pod) needed.push(bound("pod", "pods", pod, namespace));
  else if (node) needed.push(bound("node", "nodes", node, undefined));
  // Legacy tokens are looked up in their Secret first.
  return isLegacy ? needed.reverse() : needed;
}

function identityProblem({ uid, whenUidDiffers }: Needed, object: JsonObject): string | undefined {
  const found = textOf(metadataOf(object).uid);
  return uid === "" || found === uid ? undefined : whenUidDiffers(found);
}

function secretProblem(secret: JsonObject, token: string, { namespace, account }: AccountClaims): string | undefined {
  if (!holdsToken(secret, token)) return "Token does not match server's copy";
  const { labels, name } = metadataOf(secret);
  if (!isObject(labels) || !labels[INVALID_SINCE]) return undefined;
  return (
    `the token in secret ${namespace}/${textOf(name)} for service account ${namespace}/${account.name} has ` +
    "been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or " +
    `remove the '${INVALID_SINCE}' label from the secret to temporarily allow use of this token`
  );
}

function holdsToken({ data }: JsonObject, token: string): boolean {
  const stored = isObject(data) && typeof data.token === "string" ? Buffer.from(data.token, "base64") : Buffer.alloc(0);
  const sent = Buffer.from(token);
  return stored.length === sent.length && timingSafeEqual(stored, sent);
}
