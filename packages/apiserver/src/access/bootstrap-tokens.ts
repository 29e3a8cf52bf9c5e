/**
 * Bootstrap tokens: `<id>.<secret>`, stored in a Secret in `kube-system` that also specifies their expiration and
 * usages. They admit clusters and nodes that have no credentials yet. The Secret is read on every request: deleting it
 * invalidates the token.
 */
import { BOOTSTRAP_TOKEN_TYPE, AUTHENTICATED_GROUP } from "@flotilla/kubernetes";
import { timingSafeEqual } from "node:crypto";
import { isObject } from "@flotilla/base";
import type { Clock, JsonObject } from "@flotilla/base";
import { timeProblem } from "@flotilla/apimachinery";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { keyOf } from "../resources/resources.ts";
import { objectIn } from "../codec/render.ts";
import type { UserInfo } from "../request/user-info.ts";
import { metadataOf } from "../codec/metadata.ts";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const NAMESPACE = "kube-system";
const GROUP = "system:bootstrappers";
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

export interface BootstrapTokens {
  /**
   * Returns the user of the token; undefined for anything that is not a valid token. Clients do not receive the reason.
   */
  authenticate(cluster: LogicalCluster, token: string): UserInfo | undefined;
}

export function createBootstrapTokens({ store, clock }: { store: ObjectStore; clock: Clock }): BootstrapTokens {
  return {
    authenticate(cluster, token) {
      const [, id, secret] = TOKEN.exec(token) ?? [];
      const resource = cluster.table.resource("", "secrets");
      if (id === undefined || secret === undefined || !resource) return undefined;
      const { entry } = store.find(
        cluster,
        resource,
        keyOf(resource, cluster.name, NAMESPACE, `bootstrap-token-${id}`),
      );
      return entry && userOf(objectIn(entry, resource.storage), id, secret, clock.now());
    },
  };
}

function userOf(secret: JsonObject, id: string, given: string, nowMs: number): UserInfo | undefined {
  if (secret.type !== BOOTSTRAP_TOKEN_TYPE || metadataOf(secret).deletionTimestamp !== undefined) return undefined;
  const text = (key: string): string => {
    const value = isObject(secret.data) && Object.hasOwn(secret.data, key) ? secret.data[key] : undefined;
    return typeof value === "string" ? Buffer.from(value, "base64").toString("latin1") : "";
  };
  if (
    !isSame(text("token-secret"), given) ||
    text("token-id") !== id ||
    hasExpired(text("expiration"), nowMs) ||
    text("usage-bootstrap-authentication") !== "true"
  )
    return undefined;
  const extra = text("auth-extra-groups");
  const groups = extra === "" ? [] : extra.split(",");
  if (!groups.every((group) => EXTRA_GROUP.test(group))) return undefined;
  return { name: `system:bootstrap:${id}`, groups: [...[...new Set([GROUP, ...groups])].sort(), AUTHENTICATED_GROUP] };
}

function isSame(stored: string, given: string): boolean {
  return stored.length === given.length && timingSafeEqual(Buffer.from(stored, "latin1"), Buffer.from(given, "latin1"));
}

/** An expiration that cannot be parsed counts as expired. */
function hasExpired(expiration: string, nowMs: number): boolean {
  return expiration !== "" && (timeProblem(expiration, false) !== undefined || Date.parse(expiration) <= nowMs);
}
