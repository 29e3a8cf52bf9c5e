/** Who an agent is to its hub, by either project's rules, and the request for a certificate that says so. */
import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import {
  CLUSTER_NAME_LABEL,
  CLUSTER_USER_PREFIX,
  MANAGED_CLUSTERS_GROUP,
  writeCertificateRequest,
} from "../../api/index.ts";

export interface AgentIdentity {
  commonName: string;
  organizations: readonly string[];
  /** Of the request, by which hubs tell whose it is. */
  labels: Readonly<Record<string, string>>;
  /** Requests are named after this, with something random behind it. */
  requestPrefix: string;
}

/** Of Open Cluster Management: the hub's controllers know the cluster and the agent from it. */
export function managedClusterIdentity(cluster: string, agent: string): AgentIdentity {
  const user = `${CLUSTER_USER_PREFIX}${cluster}`;
  return {
    commonName: `${user}:${agent}`,
    organizations: [user, MANAGED_CLUSTERS_GROUP],
    labels: { [CLUSTER_NAME_LABEL]: cluster },
    requestPrefix: `${cluster}-`,
  };
}

export const KARMADA_AGENTS_GROUP = "system:karmada:agents";
const KARMADA_AGENT_PREFIX = "system:karmada:agent:";

/** Of Karmada's agents in pull mode. */
export function karmadaIdentity(cluster: string): AgentIdentity {
  return {
    commonName: `${KARMADA_AGENT_PREFIX}${cluster}`,
    organizations: [KARMADA_AGENTS_GROUP],
    labels: {},
    requestPrefix: `karmada-agent-${cluster}-`,
  };
}

const makeKeys = promisify(generateKeyPair);

/** PEM both. The key never leaves the agent's side. */
export async function makeRequest({
  commonName,
  organizations,
}: AgentIdentity): Promise<{ request: string; key: string }> {
  const { publicKey, privateKey } = await makeKeys("ec", { namedCurve: "P-256" });
  const request = writeCertificateRequest({
    subject: { CN: [commonName], O: [...organizations] },
    publicKey,
    privateKey,
  });
  return { request, key: privateKey.export({ type: "pkcs8", format: "pem" }) as string };
}
