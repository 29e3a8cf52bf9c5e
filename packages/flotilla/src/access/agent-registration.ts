/**
 * Which registration a certificate of an agent is for. A certificate cannot be revoked, and the name of a cluster that left
 * may be registered again: the certificate of the former agent must not be worth anything then. Pure.
 */
import type { ClusterReader } from "@flotilla/apimachinery";
import { agentRoleName, clusterOfAgentUser } from "@flotilla/karmada";
import { ClusterRole } from "@flotilla/kubernetes";
import { CLUSTER_USER_PREFIX, ManagedCluster } from "@flotilla/ocm";

/** The uid of the object that the registration of an agent's cluster created; undefined for other users. */
export function agentRegistration(user: string, read: Pick<ClusterReader, "get">): string | undefined {
  const ofKarmada = clusterOfAgentUser(user);
  // The ClusterRole carries a registration through Karmada's API: it exists before the Cluster.
  if (ofKarmada !== undefined) return read.get(ClusterRole, undefined, agentRoleName(ofKarmada))?.metadata.uid;
  if (!user.startsWith(CLUSTER_USER_PREFIX)) return undefined;
  const [cluster = ""] = user.slice(CLUSTER_USER_PREFIX.length).split(":");
  return read.get(ManagedCluster, undefined, cluster)?.metadata.uid;
}

/** Whether a later registration has taken the place of the one that a certificate is for. */
export function isReplacedRegistration(user: string, registration: string, read: Pick<ClusterReader, "get">): boolean {
  const current = agentRegistration(user, read);
  return current !== undefined && current !== registration;
}
