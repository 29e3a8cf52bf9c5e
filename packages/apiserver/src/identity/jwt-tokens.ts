/**
 * Tokens of identity providers (OIDC). A token is verified once and then remembered by its digest until it expires; its
 * user does not change in between, because it comes from the token alone.
 */
import { messageOf } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { UserInfo } from "../request/user-info.ts";
import type { ExternalOutcome, ExternalTokens } from "../access/external-tokens.ts";
import type { ClaimsToUser } from "./claims-to-user.ts";
import type { IssuerKeys } from "./issuer-keys.ts";
import { isSignedBy, readWebToken } from "./web-token.ts";
import type { WebToken } from "./web-token.ts";

export interface JwtIssuer {
  /** The exact `iss` of its tokens. */
  readonly url: string;
  /** A token must be for one of them. */
  readonly audiences: readonly string[];
  readonly keys: IssuerKeys;
  readonly userOf: ClaimsToUser;
}

const MAX_REMEMBERED = 10_000;
/** Clocks of providers may be a little ahead. */
const LEEWAY_SECONDS = 10;

/** `reservedGroups` are those of the server's own controllers, which no other issuer may claim. */
export function createJwtTokens({
  issuers,
  reservedGroups,
  clock,
}: {
  issuers: readonly JwtIssuer[];
  reservedGroups: readonly string[];
  clock: Clock;
}): ExternalTokens {
  const byUrl = new Map(issuers.map((issuer) => [issuer.url, issuer]));
  const remembered = new Map<string, { user: UserInfo; audiences: readonly string[]; expiresMs: number }>();

  async function verify(issuer: JwtIssuer, token: WebToken): Promise<UserInfo | { error: string }> {
    const problem = timeProblem(token, clock.now()) ?? audienceProblem(issuer, token);
    if (problem !== undefined) return { error: problem };
    try {
      if (!isSignedBy(token, await issuer.keys.forToken(token.keyId)))
        return { error: "oidc: verify token: failed to verify signature: failed to verify id token signature" };
    } catch (error) {
      return { error: `oidc: authenticator not initialized: ${messageOf(error)}` };
    }
    const user = issuer.userOf(token.claims);
    if ("error" in user) return { error: `oidc: ${user.error}` };
    const claimed = user.groups.find((group) => reservedGroups.includes(group));
    if (claimed !== undefined)
      return { error: `oidc: the group ${claimed} is reserved for the controllers of this server` };
    return user;
  }

  return {
    async authenticate(text, wanted, digest): Promise<ExternalOutcome> {
      const nowMs = clock.now();
      let known = remembered.get(digest);
      if (known && known.expiresMs <= nowMs) {
        remembered.delete(digest);
        known = undefined;
      }
      if (!known) {
        const token = readWebToken(text);
        const issuer = token && typeof token.claims.iss === "string" ? byUrl.get(token.claims.iss) : undefined;
        if (!token || !issuer) return undefined;
        const user = await verify(issuer, token);
        if ("error" in user) return user;
        known = {
          user,
          audiences: audiencesOf(token).filter((audience) => issuer.audiences.includes(audience)),
          expiresMs: Number(token.claims.exp) * 1000,
        };
        remembered.set(digest, known);
        const [oldest] = remembered.size > MAX_REMEMBERED ? remembered.keys() : [];
        if (oldest !== undefined) remembered.delete(oldest);
      }
      const { user, audiences } = known;
      if (!wanted) return { user, audiences };
      const shared = audiences.filter((audience) => wanted.includes(audience));
      return shared.length > 0 ? { user, audiences: shared } : undefined;
    },
  };
}

const audiencesOf = ({ claims: { aud } }: WebToken): string[] =>
  (Array.isArray(aud) ? aud : [aud]).filter((audience) => typeof audience === "string");

function audienceProblem({ audiences }: JwtIssuer, token: WebToken): string | undefined {
  const own = audiencesOf(token);
  return own.some((audience) => audiences.includes(audience))
    ? undefined
    : `oidc: verify token: oidc: expected audience in ${JSON.stringify(audiences)} got ${JSON.stringify(own)}`;
}

function timeProblem({ claims: { exp, nbf } }: WebToken, nowMs: number): string | undefined {
  if (typeof exp !== "number") return "oidc: verify token: the token has no expiry";
  if (exp * 1000 <= nowMs) return "oidc: verify token: oidc: token is expired";
  if (typeof nbf === "number" && nbf - LEEWAY_SECONDS > nowMs / 1000)
    return "oidc: verify token: the token is not valid yet";
  return undefined;
}
