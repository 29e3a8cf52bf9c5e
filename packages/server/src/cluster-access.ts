/**
 * Administrators' kubeconfigs for logical clusters.
 *
 * Those in the data directory have a token that expires, and are written again with its successor. The hub's token is
 * valid for every cluster. A cluster's own token is valid only there: a cluster recreated under the same name gets
 * another one. Those that the API issues have a certificate of the cluster that expires soon.
 */
import { MASTERS_GROUP } from "@flotilla/kubernetes";
import { HUB } from "@flotilla/apimachinery";
import type { CertificateAuthority } from "@flotilla/apimachinery";
import type { AdministratorTokens, ApiServer } from "@flotilla/apiserver";
import { renderKubeconfig } from "@flotilla/client";

export interface ClusterAccess {
  /** With a token. Throws 404 for an unknown cluster. */
  kubeconfig(cluster: string): string;
  /** With a certificate that is valid for this time. Throws 404 for an unknown cluster. */
  issue(cluster: string, lifetimeMs: number): string;
}

/** A quarter: a copy of a kubeconfig that is forgotten ends by itself. */
const LIFETIME_MS = 90 * 24 * 60 * 60 * 1000;
const ADMINISTRATOR = { commonName: "admin", organizations: [MASTERS_GROUP] };

export function createClusterAccess(options: {
  server: Pick<ApiServer, "clusterId">;
  tokens: Pick<AdministratorTokens, "issue">;
  authority: Pick<CertificateAuthority, "issueClusterClient">;
  /** PEM of the authorities of the server's certificate. */
  trusted: string;
  endpointOf(cluster: string): string;
  /** More addresses of the hub. */
  others?: readonly string[] | undefined;
  /** How long a token is valid; it has a successor after half of that. */
  lifetimeMs?: number | undefined;
}): ClusterAccess {
  const { server, tokens, authority, trusted: ca, endpointOf, others = [], lifetimeMs = LIFETIME_MS } = options;
  const othersOf = (cluster: string): string[] =>
    others.map((address) => (cluster === HUB ? address : `${address}/clusters/${cluster}`));
  return {
    kubeconfig(cluster) {
      const id = server.clusterId(cluster);
      const token = tokens.issue(cluster === HUB ? undefined : id, lifetimeMs);
      return renderKubeconfig({ name: cluster, server: endpointOf(cluster), others: othersOf(cluster), ca, token });
    },
    issue(cluster, lifetime) {
      const { certificate: cert, key } = authority.issueClusterClient(ADMINISTRATOR, {
        cluster: server.clusterId(cluster),
        lifetimeMs: lifetime,
      });
      return renderKubeconfig({ name: cluster, server: endpointOf(cluster), others: othersOf(cluster), ca, cert, key });
    },
  };
}
