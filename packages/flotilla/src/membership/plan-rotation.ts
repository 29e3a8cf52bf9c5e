/**
 * Decides when a token must be replaced. Bound service account tokens contain their expiry and are renewed well before
 * it; tokens without expiry are left alone. Pure.
 */
import { isObject } from "@flotilla/base";
import type { Json } from "@flotilla/base";

export interface BoundToken {
  namespace: string;
  serviceAccount: string;
  issuedMs: number;
  endsMs: number;
}

/** A token is renewed after this share of its lifetime, so that several retries fit into the rest. */
const RENEW_AFTER = 0.6;

/**
 * The claims of a token; undefined without an expiry or a service account. The signature is not verified: it is our own
 * token.
 */
export function readBoundToken(token: string): BoundToken | undefined {
  const claims = claimsOf(token);
  if (!claims) return undefined;
  const { sub, iat, exp } = claims;
  const match = typeof sub === "string" ? /^system:serviceaccount:([^:]+):([^:]+)$/.exec(sub) : null;
  if (!match || typeof exp !== "number" || typeof iat !== "number" || exp <= iat) return undefined;
  return { namespace: match[1] ?? "", serviceAccount: match[2] ?? "", issuedMs: iat * 1000, endsMs: exp * 1000 };
}

function claimsOf(token: string): Readonly<Record<string, Json | undefined>> | undefined {
  const [, payload, ...rest] = token.split(".");
  if (payload === undefined || rest.length !== 1) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return isObject(claims) ? claims : undefined;
  } catch {
    return undefined; // Not a JWT: a token of another kind, whose expiry cannot be read.
  }
}

/** How long to wait before renewing the token; 0 means now. */
export function renewAfterMs({ issuedMs, endsMs }: BoundToken, nowMs: number): number {
  return Math.max(0, Math.ceil(issuedMs + (endsMs - issuedMs) * RENEW_AFTER - nowMs));
}

/** The lifetime of the old token. */
export const lifetimeSeconds = ({ issuedMs, endsMs }: BoundToken): number =>
  Math.max(600, Math.round((endsMs - issuedMs) / 1000));
