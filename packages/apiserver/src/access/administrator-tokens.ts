/**
 * Tokens of administrators, in kubeconfigs. A token says where it is valid and until when, and is signed with a secret
 * that all API servers of a hub share, so every one of them accepts it and nothing is stored. The first secret signs, all
 * verify, so that a secret is replaced while its tokens are in use.
 */
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";

export interface AdministratorTokens {
  /**
   * A token for the logical cluster with this id, or for all if it is unset. It is the same for a while, also on other
   * servers: it has a successor after half of its lifetime, so that a client that reads its kubeconfig again in the other
   * half stays connected.
   */
  issue(clusterId: string | undefined, lifetimeMs: number): string;
  /** Where a token is valid; undefined if it is not a valid token of an administrator. The digest saves computing it. */
  read(token: string, digest?: string): AdministratorScope | undefined;
}

interface AdministratorScope {
  /** The id of the logical cluster; unset means all. */
  readonly clusterId: string | undefined;
}

/** Three parts with an `exp`, as other tokens have, so that tools show when it expires. */
const HEAD = "flotilla-administrator";
const MAX_LENGTH = 1024;
/** Clients that send their token with every request; further ones cost a signature each time. */
const MAX_KNOWN = 1024;

export function createAdministratorTokens(secrets: readonly string[], nowMs: () => number): AdministratorTokens {
  const sign = (secret: string, payload: string): Buffer =>
    createHmac("sha256", secret).update(`${HEAD}.${payload}`).digest();
  /** By digest, the claims of tokens whose signature was checked; of these only, so that other clients cannot fill it. */
  const known = new Map<string, JsonObject>();
  function claimsOf(token: string, digest: string): JsonObject | undefined {
    const checked = known.get(digest);
    if (checked) return checked;
    const [, payload = "", signature = ""] = token.split(".");
    const given = Buffer.from(signature, "base64url");
    const isSigned = secrets.some((secret) => {
      const wanted = sign(secret, payload);
      return given.length === wanted.length && timingSafeEqual(given, wanted);
    });
    if (!isSigned) return undefined;
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
    if (!isObject(claims)) return undefined;
    if (known.size >= MAX_KNOWN) for (const oldest of known.keys().take(1)) known.delete(oldest);
    known.set(digest, claims);
    return claims;
  }
  return {
    issue(clusterId, lifetimeMs) {
      const halfMs = Math.max(1000, lifetimeMs / 2);
      const exp = Math.floor(((Math.floor(nowMs() / halfMs) + 2) * halfMs) / 1000);
      const payload = Buffer.from(JSON.stringify({ cluster: clusterId, exp })).toString("base64url");
      return `${HEAD}.${payload}.${sign(secrets[0] ?? "", payload).toString("base64url")}`;
    },
    read(token, digest = hash("sha256", token, "base64url")) {
      if (!token.startsWith(`${HEAD}.`) || token.length > MAX_LENGTH) return undefined;
      const claims = claimsOf(token, digest);
      if (!claims || typeof claims.exp !== "number" || claims.exp * 1000 <= nowMs()) return undefined;
      return { clusterId: typeof claims.cluster === "string" ? claims.cluster : undefined };
    },
  };
}
