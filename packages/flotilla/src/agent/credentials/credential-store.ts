/**
 * Stores an agent's credentials across restarts: a Secret on its member, in the format of Open Cluster Management's
 * agents.
 */
import { Namespace, Secret } from "@flotilla/kubernetes";
import { FlotillaError, UsageError } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { find, otherServersOf, parseKubeconfig, serverExtensions } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { ApiError, isAlreadyExists, isNamespaceTerminating, isNotFound } from "@flotilla/apimachinery";
import type { HubAddress, HubCredentials } from "./hub-credentials.ts";

export interface CredentialStore {
  /** Undefined when there are none, or they cannot be read. */
  load(signal: AbortSignal): Promise<HubCredentials | undefined>;
  /**
   * Prepares the storage, and rejects where credentials could not be stored. Otherwise the agent would request a
   * certificate and then lose it.
   */
  prepare(signal: AbortSignal): Promise<void>;
  save(credentials: HubCredentials, signal: AbortSignal): Promise<void>;
}

const HUB_KUBECONFIG_SECRET = "hub-kubeconfig-secret";

/** The files of such a Secret or directory, by name. */
export function filesOf(credentials: HubCredentials): Readonly<Record<string, string>> {
  const { cluster, agent, cert, key, address } = credentials;
  return {
    kubeconfig: kubeconfigBeside(address),
    "tls.crt": cert,
    "tls.key": key,
    "cluster-name": cluster,
    "agent-name": agent,
  };
}

/** Reads the files that `filesOf` wrote; undefined when one is missing. */
export function credentialsIn(file: (name: string) => string | undefined): HubCredentials | undefined {
  const [cert, key, cluster, agent, kubeconfig] = [
    "tls.crt",
    "tls.key",
    "cluster-name",
    "agent-name",
    "kubeconfig",
  ].map(file);
  if (
    cert === undefined ||
    key === undefined ||
    cluster === undefined ||
    agent === undefined ||
    kubeconfig === undefined
  )
    return undefined;
  const address = addressIn(kubeconfig);
  return address && { address, cluster: cluster.trim(), agent: agent.trim(), cert, key };
}

/** It references certificate and key as files in the same directory, as other agents that read it expect. */
function kubeconfigBeside(address: HubAddress): string {
  const { name, server, ca, proxyUrl, others } = address;
  const document = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "default-context",
    clusters: [
      {
        name,
        cluster: {
          server,
          "certificate-authority-data": ca !== "" ? Buffer.from(ca).toString("base64") : undefined,
          "proxy-url": proxyUrl !== "" ? proxyUrl : undefined,
          extensions: serverExtensions(others),
        },
      },
    ],
    contexts: [
      { name: "default-context", context: { cluster: name, namespace: "configuration", user: "default-auth" } },
    ],
    users: [{ name: "default-auth", user: { "client-certificate": "tls.crt", "client-key": "tls.key" } }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/**
 * Undefined when the kubeconfig cannot be read: another program's, or partially written. The agent then requests new
 * credentials.
 */
function addressIn(kubeconfig: string): HubAddress | undefined {
  try {
    const { currentContext = "", contexts, clusters } = parseKubeconfig(kubeconfig);
    const name = contexts.get(currentContext)?.cluster ?? "";
    const entry = clusters.get(name) ?? {};
    const { server, "certificate-authority-data": ca, "proxy-url": proxyUrl } = entry;
    return typeof server === "string"
      ? {
          name,
          server,
          ca: typeof ca === "string" ? Buffer.from(ca, "base64").toString("utf8") : "",
          proxyUrl: typeof proxyUrl === "string" ? proxyUrl : "",
          others: otherServersOf("the kubeconfig of the agent", entry),
        }
      : undefined;
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

export function createSecretStore({
  client,
  cluster,
  namespace,
  name = HUB_KUBECONFIG_SECRET,
}: {
  client: Client;
  cluster: string;
  namespace: string;
  name?: string;
}): CredentialStore {
  const key = { cluster, namespace, name };
  /** Dry run: the server validates the write and stores nothing. */
  async function tryToWrite(signal: AbortSignal): Promise<void> {
    try {
      await client.create(
        Secret,
        cluster,
        { apiVersion: "v1", kind: "Secret", metadata: { namespace, name }, type: "Opaque" },
        { dryRun: true, signal },
      );
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await client.patch(Secret, key, { data: {} }, { type: "merge", dryRun: true, signal });
    }
  }
  return {
    async load(signal) {
      const secret = await find(client, Secret, key, { signal });
      return secret && credentialsIn((file) => textIn(secret, file));
    },
    async prepare(signal) {
      try {
        await tryToWrite(signal);
      } catch (error) {
        if (!isNotFound(error)) throw refusedWrite(error, cluster, namespace);
        await ensureAgentNamespace(client, cluster, namespace, signal);
        await tryToWrite(signal).catch((again: unknown) => Promise.reject(refusedWrite(again, cluster, namespace)));
      }
    },
    async save(credentials, signal) {
      const data = Object.fromEntries(
        Object.entries(filesOf(credentials)).map(([file, text]) => [file, Buffer.from(text).toString("base64")]),
      );
      try {
        await client.create(
          Secret,
          cluster,
          { apiVersion: "v1", kind: "Secret", metadata: { namespace, name }, type: "Opaque", data },
          { signal },
        );
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        await client.patch(Secret, key, { data }, { type: "merge", signal });
      }
    },
  };
}

/**
 * Creates the namespace for the agent's own objects on a member if it is missing. Rejects with instructions if the
 * agent may not create it.
 */
export async function ensureAgentNamespace(
  client: Client,
  cluster: string,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create(
      Namespace,
      cluster,
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      { signal },
    );
  } catch (error) {
    if (isAlreadyExists(error)) return;
    if (!isForbidden(error)) throw error;
    throw new FlotillaError(
      "CredentialStore",
      `cluster ${cluster} has no namespace ${namespace}, and this agent may not create it; run 'kubectl ` +
        `create namespace ${namespace}' there, choose another namespace with --namespace NS, or keep ` +
        "credentials in a directory with --state DIR",
      { cause: error },
    );
  }
}

/** Waits for a terminating namespace. */
const isForbidden = (error: unknown): boolean =>
  error instanceof ApiError && error.status.code === 403 && !isNamespaceTerminating(error);

function refusedWrite(error: unknown, cluster: string, namespace: string): unknown {
  if (!isForbidden(error)) return error;
  return new FlotillaError(
    "CredentialStore",
    `this agent may not store its credentials in namespace ${namespace} of cluster ${cluster}; allow its ` +
      "service account to write Secrets there, or set a directory with --state DIR",
    { cause: error },
  );
}

/** Own keys only, because the data of a Secret may have any key. */
function textIn({ data }: DeepReadonly<Secret>, file: string): string | undefined {
  const value = data && Object.hasOwn(data, file) ? data[file] : undefined;
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
}
