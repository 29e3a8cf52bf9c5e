/**
 * Whether a certificate request comes from a cluster's agent: everything in it must name the same cluster. Pure.
 *
 * Approvers can approve any request manually; this covers automatic approval, so a request that is not exactly right is
 * not recognised: an agent must not get a certificate for another cluster or with an additional group.
 */
import { CLIENT_SIGNER } from "@flotilla/kubernetes";
import { CLUSTER_NAME_LABEL, CLUSTER_USER_PREFIX, MANAGED_CLUSTERS_GROUP } from "@flotilla/ocm";
import { CertificateRequestError, parseCertificateRequest } from "@flotilla/apimachinery";
import type { CertificateSigningRequest } from "@flotilla/kubernetes";
import type { CertificateRequest } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";

export interface AgentRequest {
  cluster: string;
  /** The user that the certificate would authenticate. */
  user: string;
}

export function recogniseRequest({
  metadata,
  spec,
}: DeepReadonly<CertificateSigningRequest>): AgentRequest | undefined {
  const cluster = metadata.labels?.[CLUSTER_NAME_LABEL];
  if (!cluster || spec.signerName !== CLIENT_SIGNER) return undefined;
  const request = read(spec.request);
  if (!request) return undefined;
  const groups = new Set(request.organizations);
  groups.delete(MANAGED_CLUSTERS_GROUP);
  if (groups.size !== 1 || !groups.has(`${CLUSTER_USER_PREFIX}${cluster}`)) return undefined;
  const user = request.commonName;
  const [named, agent, ...rest] = user.startsWith(CLUSTER_USER_PREFIX)
    ? user.slice(CLUSTER_USER_PREFIX.length).split(":")
    : [];
  return named === cluster && agent && rest.length === 0 ? { cluster, user } : undefined;
}

/** Undefined for an invalid request: it is not an agent's, or broken. */
function read(text: string): CertificateRequest | undefined {
  try {
    return parseCertificateRequest(text);
  } catch (error) {
    if (error instanceof CertificateRequestError) return undefined;
    throw error;
  }
}
