/**
 * Who sends a request: a client certificate (its common name is the user, its organizations are the groups) or a static
 * bearer token. The certificate wins when both are good, as in Kubernetes.
 *
 * Tokens are kept and compared as SHA-256 digests, so neither memory dumps of the table nor timing give one away.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { unauthorized } from "../../machinery/index.ts";
import type { Authenticator, UserInfo } from "../request.ts";

export interface StaticToken {
  token: string;
  user: string;
  groups?: readonly string[];
  uid?: string;
}

export const ANONYMOUS: UserInfo = Object.freeze({ name: "system:anonymous", groups: Object.freeze(["system:unauthenticated"]) });
const AUTHENTICATED = "system:authenticated";

export function createAuthenticator({ tokens = [] }: { tokens?: readonly StaticToken[] } = {}): Authenticator {
  const byDigest = new Map<string, { digest: Buffer; user: UserInfo }>();
  for (const { token, user, groups = [], uid } of tokens) {
    const digest = digestOf(token);
    byDigest.set(digest.toString("latin1"), { digest, user: authenticated(user, groups, uid) });
  }

  return {
    async authenticate({ certificate, bearerToken }) {
      // A certificate without a common name says who signed it, but not who it is.
      if (certificate?.commonName) return authenticated(certificate.commonName, certificate.organizations);
      if (bearerToken === undefined) {
        if (certificate) throw unauthorized();
        return undefined;
      }
      const digest = digestOf(bearerToken);
      const known = byDigest.get(digest.toString("latin1"));
      if (!known || !timingSafeEqual(known.digest, digest)) throw unauthorized();
      return known.user;
    },
  };
}

function authenticated(name: string, groups: readonly string[], uid?: string): UserInfo {
  return Object.freeze({ name, ...(uid !== undefined && { uid }), groups: Object.freeze([...new Set([...groups, AUTHENTICATED])]) });
}

function digestOf(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
