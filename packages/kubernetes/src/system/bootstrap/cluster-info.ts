/**
 * `cluster-info`: the address and the CA of the API server, publicly readable. It is signed with every bootstrap token,
 * so a client with a token can verify it.
 */
import { createHmac } from "node:crypto";
import { ConfigMap } from "../../configmap/configmap-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { isAlreadyExists, isConflict, isNotFound } from "@flotilla/apimachinery";

export const CLUSTER_INFO = { namespace: "kube-public", name: "cluster-info" } as const;
/** Readable without credentials. */
export const CLUSTER_INFO_PATH = `/api/v1/namespaces/${CLUSTER_INFO.namespace}/configmaps/${CLUSTER_INFO.name}`;
const KUBECONFIG = "kubeconfig";
const SIGNATURE = "jws-kubeconfig-";
const LOOPBACK = /^\s*server: "?https:\/\/(127\.\d+\.\d+\.\d+|localhost|\[::1\])[:/"\s]/m;

/** The data with one signature per token and no others; undefined if it is already correct. */
export function planSignatures(
  data: Readonly<Record<string, string>>,
  tokens: readonly { id: string; secret: string }[],
): Record<string, string> | undefined {
  const content = data[KUBECONFIG];
  if (content === undefined) return undefined;
  const wanted = new Map(Object.entries(data).filter(([key]) => !key.startsWith(SIGNATURE)));
  for (const { id, secret } of tokens) wanted.set(`${SIGNATURE}${id}`, detachedSignature(content, id, secret));
  const isSame = wanted.size === Object.keys(data).length && [...wanted].every(([key, value]) => data[key] === value);
  return isSame ? undefined : Object.fromEntries(wanted);
}

/** A JWS (RFC 7515, appendix F) with detached content, which the reader has anyway. */
function detachedSignature(content: string, id: string, secret: string): string {
  const header = Buffer.from(JSON.stringify({ alg: "HS256", kid: id })).toString("base64url");
  const signature = createHmac("sha256", secret)
    .update(`${header}.${Buffer.from(content).toString("base64url")}`)
    .digest("base64url");
  return `${header}..${signature}`;
}

/** Each conflict means that another API server of the same store has started meanwhile. */
const MAX_ATTEMPTS = 10;

/**
 * Publishes the address of a cluster's API server. A user's entry is preserved, because only the user knows the name
 * under which others reach it; a loopback address is ours and follows the port. API servers of one store may do so at
 * the same time.
 */
export async function publishClusterInfo(
  client: Client,
  cluster: string,
  { server, ca }: { server: string; ca: string },
  signal: AbortSignal,
): Promise<void> {
  const kubeconfig = renderClusterInfo(server, ca);
  for (let attempt = 1; ; attempt++) {
    try {
      return await publish(client, cluster, kubeconfig, signal);
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !(isConflict(error) || isAlreadyExists(error))) throw error;
    }
  }
}

async function publish(client: Client, cluster: string, kubeconfig: string, signal: AbortSignal): Promise<void> {
  const present = await find(client, cluster, signal);
  if (!present) {
    const metadata = { ...CLUSTER_INFO };
    const created: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { [KUBECONFIG]: kubeconfig } };
    await client.create(ConfigMap, cluster, created, { signal });
    return;
  }
  const written = present.data?.[KUBECONFIG];
  if (written === kubeconfig || (written !== undefined && !LOOPBACK.test(written))) return;
  const data = { ...present.data, [KUBECONFIG]: kubeconfig };
  await client.update(ConfigMap, cluster, { ...present, data }, { signal });
}

/** A kubeconfig with one unnamed cluster and no user, as installers write it. */
function renderClusterInfo(server: string, ca: string): string {
  return [
    "apiVersion: v1",
    "clusters:",
    "- cluster:",
    `    certificate-authority-data: ${Buffer.from(ca).toString("base64")}`,
    `    server: ${server}`,
    '  name: ""',
    "contexts: null",
    'current-context: ""',
    "kind: Config",
    "preferences: {}",
    "users: null",
    "",
  ].join("\n");
}

export async function find(
  client: Client,
  cluster: string,
  signal: AbortSignal,
): Promise<DeepReadonly<ConfigMap> | undefined> {
  try {
    return await client.get(ConfigMap, { cluster, ...CLUSTER_INFO }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
