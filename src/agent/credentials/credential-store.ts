/** Where an agent keeps its credentials between two lives: a Secret on its member, in the form of Open Cluster Management's agents. */
import { Secret } from "../../api/index.ts";
import { UsageError } from "../../base/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { find, parseKubeconfig } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import { isAlreadyExists } from "../../machinery/index.ts";
import type { HubAddress, HubCredentials } from "./hub-credentials.ts";

export interface CredentialStore {
  /** Undefined when there are none, or none that can be read. */
  load(signal: AbortSignal): Promise<HubCredentials | undefined>;
  save(credentials: HubCredentials, signal: AbortSignal): Promise<void>;
}

export const HUB_KUBECONFIG_SECRET = "hub-kubeconfig-secret";

/** The files of such a Secret, or of a directory, by name. */
export function filesOf(credentials: HubCredentials): Readonly<Record<string, string>> {
  const { cluster, agent, cert, key, address } = credentials;
  return { kubeconfig: kubeconfigBeside(address), "tls.crt": cert, "tls.key": key, "cluster-name": cluster, "agent-name": agent };
}

/** What `filesOf` wrote; undefined when something is missing. */
export function credentialsIn(file: (name: string) => string | undefined): HubCredentials | undefined {
  const [cert, key, cluster, agent, kubeconfig] = ["tls.crt", "tls.key", "cluster-name", "agent-name", "kubeconfig"].map(file);
  if (cert === undefined || key === undefined || cluster === undefined || agent === undefined || kubeconfig === undefined) return undefined;
  const address = addressIn(kubeconfig);
  return address && { address, cluster: cluster.trim(), agent: agent.trim(), cert, key };
}

/** It names certificate and key as files beside it, as other agents that read it expect. */
function kubeconfigBeside({ name, server, ca, proxyUrl }: HubAddress): string {
  const document = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "default-context",
    clusters: [{ name, cluster: { server, ...(ca !== "" && { "certificate-authority-data": Buffer.from(ca).toString("base64") }), ...(proxyUrl !== "" && { "proxy-url": proxyUrl }) } }],
    contexts: [{ name: "default-context", context: { cluster: name, namespace: "configuration", user: "default-auth" } }],
    users: [{ name: "default-auth", user: { "client-certificate": "tls.crt", "client-key": "tls.key" } }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Undefined for what cannot be read: somebody else's, or half written. New credentials are asked for then. */
function addressIn(kubeconfig: string): HubAddress | undefined {
  try {
    const { currentContext = "", contexts, clusters } = parseKubeconfig(kubeconfig);
    const name = contexts.get(currentContext)?.cluster ?? "";
    const { server, "certificate-authority-data": ca, "proxy-url": proxyUrl } = clusters.get(name) ?? {};
    return typeof server === "string" ? { name, server, ca: typeof ca === "string" ? Buffer.from(ca, "base64").toString("utf8") : "", proxyUrl: typeof proxyUrl === "string" ? proxyUrl : "" } : undefined;
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

export function createSecretStore({ client, cluster, namespace, name = HUB_KUBECONFIG_SECRET }: { client: Client; cluster: string; namespace: string; name?: string }): CredentialStore {
  const key = { cluster, namespace, name };
  return {
    async load(signal) {
      const secret = await find(client, Secret, key, { signal });
      return secret && credentialsIn((file) => textIn(secret, file));
    },
    async save(credentials, signal) {
      const data = Object.fromEntries(Object.entries(filesOf(credentials)).map(([file, text]) => [file, Buffer.from(text).toString("base64")]));
      try {
        await client.create(Secret, cluster, { apiVersion: "v1", kind: "Secret", metadata: { namespace, name }, type: "Opaque", data }, { signal });
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        await client.patch(Secret, key, { data }, { type: "merge", signal });
      }
    },
  };
}

/** Own keys only, as the data of a Secret may have any name. */
function textIn({ data }: DeepReadonly<Secret>, file: string): string | undefined {
  const value = data && Object.hasOwn(data, file) ? data[file] : undefined;
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
}
