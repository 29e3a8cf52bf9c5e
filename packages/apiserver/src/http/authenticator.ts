/**
 * Authenticates requests with a client certificate (its common name is the user, its organizations are the groups) or a
 * bearer token. The certificate wins when both are valid, as in Kubernetes.
 *
 * One certificate authority signs the clients of all logical clusters, so a certificate can be limited to a cluster:
 * with an organization that names the cluster (`clusterPrefix`) it is valid in that cluster only. Certificates signed for a
 * CertificateSigningRequest carry the id of the cluster of the request, because their subject must be exactly the
 * requested one.
 */
import { ANONYMOUS_USER, UNAUTHENTICATED_GROUP } from "@flotilla/kubernetes";
import { unauthorized } from "@flotilla/apimachinery";
import { after } from "../admission/run-steps.ts";
import { authenticatedUser, createBearerTokens } from "../access/bearer-tokens.ts";
import type { BearerTokens, StaticToken } from "../access/bearer-tokens.ts";
import type { Authenticator } from "../request/request.ts";
import type { UserInfo } from "../request/user-info.ts";
import type { ClientSubject } from "./peer.ts";

export const ANONYMOUS: UserInfo = Object.freeze({
  name: ANONYMOUS_USER,
  groups: Object.freeze([UNAUTHENTICATED_GROUP]),
});

const CREDENTIAL_ID = "authentication.kubernetes.io/credential-id";

type AdmitsAnonymous = boolean | ReadonlySet<string>;

export interface AuthenticatorOptions {
  /** An organization with this prefix and the name of a logical cluster limits a certificate to that cluster. */
  clusterPrefix: string;
  /**
   * Whether the cluster of this name has this id, and is not a later cluster of the same name. Unset: certificates of
   * CertificateSigningRequests are not accepted.
   */
  isCluster?(name: string, id: string): boolean;
  /** Whether the object to which a certificate was bound when it was signed has been replaced by another of its name. */
  isReplaced?(cluster: string, commonName: string, registration: string): boolean;
  /** The tokens of the server, or a fixed list. */
  tokens?: BearerTokens | readonly StaticToken[];
  /**
   * Admits requests without credentials as `system:anonymous`, on all paths or on some; the cluster's roles determine
   * what they may do. A function is asked for each request.
   */
  anonymous?: AdmitsAnonymous | (() => AdmitsAnonymous);
}

/** The paths that load balancers probe without credentials. */
export const HEALTH_PATHS: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz"]);

export function createAuthenticator({
  clusterPrefix,
  tokens = [],
  anonymous = false,
  isCluster = () => false,
  isReplaced = () => false,
}: AuthenticatorOptions): Authenticator {
  const bearers = "authenticate" in tokens ? tokens : createBearerTokens({ tokens });
  /** A connection keeps its subject, and with it its user. */
  const users = new WeakMap<ClientSubject, UserInfo>();
  const userOf = (subject: ClientSubject): UserInfo => {
    let user = users.get(subject);
    if (!user) users.set(subject, (user = userOfSubject(subject, clusterPrefix)));
    return user;
  };

  const isOld = ({ commonName, registration }: ClientSubject, cluster: string): boolean =>
    registration !== undefined && isReplaced(cluster, commonName, registration);

  return {
    authenticate({ certificate, bearerToken, bearerDigest, cluster, path = "", address }) {
      if (
        certificate &&
        isGoodIn(certificate, cluster, clusterPrefix) &&
        (certificate.cluster === undefined || isCluster(cluster, certificate.cluster))
      ) {
        if (!isOld(certificate, cluster)) return userOf(certificate);
        // Its owner proved to be the former one, and may know.
        if (bearerToken === undefined)
          throw unauthorized(
            "the client certificate was issued for an earlier registration of this name; register again",
          );
      }
      if (bearerToken === undefined) {
        if (certificate || !admitsAnonymous(typeof anonymous === "function" ? anonymous() : anonymous, path))
          throw unauthorized();
        return undefined;
      }
      return after(bearers.authenticate(cluster, bearerToken, undefined, bearerDigest, address), (outcome) => {
        if ("error" in outcome) throw unauthorized();
        return outcome.user;
      });
    },
    async homeOf({ certificate, bearerToken, bearerDigest }) {
      const home = certificate && homeOfCertificate(certificate, clusterPrefix);
      if (home !== undefined || bearerToken === undefined) return home;
      return bearers.homeOf(bearerToken, bearerDigest);
    },
  };
}

const admitsAnonymous = (admitted: AdmitsAnonymous, path: string): boolean =>
  typeof admitted === "boolean" ? admitted : admitted.has(path);

function userOfSubject({ commonName, organizations, credentialId }: ClientSubject, clusterPrefix: string): UserInfo {
  const user = authenticatedUser(
    commonName,
    organizations.filter((organization) => !organization.startsWith(clusterPrefix)),
  );
  return credentialId === undefined
    ? user
    : Object.freeze({ ...user, extra: Object.freeze({ [CREDENTIAL_ID]: [credentialId] }) });
}

/** The cluster that a certificate is limited to. Ids of clusters end in a dot and a number. */
function homeOfCertificate({ cluster, organizations }: ClientSubject, clusterPrefix: string): string | undefined {
  if (cluster !== undefined) return cluster.slice(0, cluster.lastIndexOf("."));
  const [tie, ...more] = organizations.filter((organization) => organization.startsWith(clusterPrefix));
  return more.length > 0 ? undefined : tie?.slice(clusterPrefix.length);
}

/** A certificate without a common name does not identify a user. */
function isGoodIn({ commonName, organizations }: ClientSubject, cluster: string, clusterPrefix: string): boolean {
  const ties = organizations.filter((organization) => organization.startsWith(clusterPrefix));
  return commonName !== "" && (ties.length === 0 || ties.includes(clusterPrefix + cluster));
}
