/** What has to be known of an existing cluster before something is installed on it. */
import { ApiError, HUB, isNotFound } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { find, readJson, readText } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { INSTALL_RECORD, INSTALLED_LABEL } from "@flotilla/flotilla";
import { Cluster } from "@flotilla/karmada";
import { ConfigMap, CustomResourceDefinition, SelfSubjectReview } from "@flotilla/kubernetes";

export interface ClusterFacts {
  /** `v1.36.3` */
  version: string;
  /** Whether another API server than that of the cluster serves Clusters: it is a hub already. */
  isHub: boolean;
  /** Whether the API server authenticates itself to aggregated servers. */
  hasFrontProxy: boolean;
  /** By name, whether an installation of ours made it. */
  definitions: ReadonlyMap<string, { isOurs: boolean }>;
  /** The version that is installed; undefined if none is. */
  installed: string | undefined;
  /** Who installs. */
  user: string | undefined;
}

export async function readClusterFacts(client: Client, namespace: string, signal: AbortSignal): Promise<ClusterFacts> {
  const { body } = await client.raw({ method: "GET", path: "/version", cluster: HUB }, signal);
  const version = await readJson(body);
  const authentication = await find(
    client,
    ConfigMap,
    { cluster: HUB, namespace: "kube-system", name: "extension-apiserver-authentication" },
    { signal },
  );
  const { items } = await client.list(CustomResourceDefinition, { cluster: HUB, signal });
  const definitions = new Map(items.map((definition) => [definition.metadata.name, { isOurs: isOurs(definition) }]));
  const record = await find(client, ConfigMap, { cluster: HUB, namespace, name: INSTALL_RECORD }, { signal });
  return {
    version: isObject(version) && typeof version["gitVersion"] === "string" ? version["gitVersion"] : "",
    isHub: !definitions.has(`${Cluster.plural}.${Cluster.group}`) && (await servesGroup(client, Cluster.group, signal)),
    hasFrontProxy: Boolean(authentication?.data?.["requestheader-client-ca-file"]),
    definitions,
    installed: record?.data?.["version"],
    user: await whoAmI(client, signal),
  };
}

const isOurs = ({ metadata }: DeepReadonly<CustomResourceDefinition>): boolean =>
  metadata.labels?.[INSTALLED_LABEL] !== undefined;

async function servesGroup(client: Client, group: string, signal: AbortSignal): Promise<boolean> {
  const { status, body } = await client.raw({ method: "GET", path: `/apis/${group}`, cluster: HUB }, signal);
  await readText(body);
  return status === 200;
}

async function whoAmI(client: Client, signal: AbortSignal): Promise<string | undefined> {
  const review: SelfSubjectReview = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "SelfSubjectReview",
    metadata: { name: "" },
  };
  try {
    const { status } = await client.create(SelfSubjectReview, HUB, review, { signal });
    return status?.userInfo?.username;
  } catch (error) {
    if (isNotFound(error) || (error instanceof ApiError && error.status.code === 403)) return undefined;
    throw error;
  }
}
