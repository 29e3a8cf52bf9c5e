/** An agent's identity on its hub, by Karmada's or OCM's rules, and the certificate signing request for it. */
import { generateKeyPairSync } from "node:crypto";
import { agentUser, KARMADA_AGENTS_GROUP } from "@flotilla/karmada";
import { CLUSTER_NAME_LABEL, CLUSTER_USER_PREFIX, MANAGED_CLUSTERS_GROUP } from "@flotilla/ocm";
import { writeCertificateRequest } from "@flotilla/apimachinery";

export interface AgentIdentity {
  commonName: string;
  organizations: readonly string[];
  /** Labels of the request, from which hubs identify the cluster. */
  labels: Readonly<Record<string, string>>;
  /** Name prefix of requests; a random suffix follows. */
  requestPrefix: string;
}

/** Open Cluster Management's identity: the hub's controllers derive the cluster and the agent from it. */
export function managedClusterIdentity(cluster: string, agent: string): AgentIdentity {
  const user = `${CLUSTER_USER_PREFIX}${cluster}`;
  return {
    commonName: `${user}:${agent}`,
    organizations: [user, MANAGED_CLUSTERS_GROUP],
    labels: { [CLUSTER_NAME_LABEL]: cluster },
    requestPrefix: `${cluster}-`,
  };
}

/** The identity of Karmada's pull-mode agents. */
export function karmadaIdentity(cluster: string): AgentIdentity {
  return {
    commonName: agentUser(cluster),
    organizations: [KARMADA_AGENTS_GROUP],
    labels: {},
    requestPrefix: `karmada-agent-${cluster}-`,
  };
}

/** Both PEM. The key never leaves the agent. */
export function makeRequest({ commonName, organizations }: AgentIdentity): { request: string; key: string } {
  // A tenth of a millisecond: another thread would take longer to answer, and no fake clock waits for it.
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const request = writeCertificateRequest({
    subject: { CN: [commonName], O: [...organizations] },
    publicKey,
    privateKey,
  });
  return { request, key: privateKey.export({ type: "pkcs8", format: "pem" }) as string };
}
