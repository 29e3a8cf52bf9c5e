/** Where an agent keeps its credentials between two lives: a Secret on its member, in the form of Open Cluster Management's agents. */
import { Secret } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { find } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import { isAlreadyExists } from "../../machinery/index.ts";
import { kubeconfigOf } from "./hub-credentials.ts";
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
  return { kubeconfig: kubeconfigOf(credentials), "tls.crt": cert, "tls.key": key, "cluster-name": cluster, "agent-name": agent, "hub.json": `${JSON.stringify(address)}\n` };
}

/** What `filesOf` wrote; undefined when something is missing. */
export function credentialsIn(file: (name: string) => string | undefined): HubCredentials | undefined {
  const [cert, key, cluster, agent, hub] = ["tls.crt", "tls.key", "cluster-name", "agent-name", "hub.json"].map(file);
  if (cert === undefined || key === undefined || cluster === undefined || agent === undefined || hub === undefined) return undefined;
  try {
    const { name, server, ca, proxyUrl } = JSON.parse(hub) as Partial<HubAddress>;
    if (typeof name !== "string" || typeof server !== "string" || typeof ca !== "string" || typeof proxyUrl !== "string") return undefined;
    return { address: { name, server, ca, proxyUrl }, cluster: cluster.trim(), agent: agent.trim(), cert, key };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // Somebody else's, or half written: new ones are asked for.
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
