/**
 * When a token must be replaced. Tokens that a service account was given for a while say so themselves; they are
 * renewed well before they end, and those without an end are left alone. Pure.
 */
import { isObject } from "../base/index.ts";
import type { Json } from "../base/index.ts";

export interface BoundToken {
  namespace: string;
  serviceAccount: string;
  issuedMs: number;
  endsMs: number;
}

/** After this part of its life a token is renewed, so that several tries fit into the rest. */
const RENEW_AFTER = 0.6;

/**
 * What a token says of itself; undefined for one that does not end, or that no service account has. Nothing is
 * verified: it is our own.
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
    return undefined; // Not a JWT: a token of another kind, whose end nobody can read.
  }
}

/** How long to wait before the token is renewed; 0 is now. */
export function renewAfterMs({ issuedMs, endsMs }: BoundToken, nowMs: number): number {
  return Math.max(0, Math.ceil(issuedMs + (endsMs - issuedMs) * RENEW_AFTER - nowMs));
}

/** As long as the old one was good for. */
export const lifetimeSeconds = ({ issuedMs, endsMs }: BoundToken): number =>
  Math.max(600, Math.round((endsMs - issuedMs) / 1000));
