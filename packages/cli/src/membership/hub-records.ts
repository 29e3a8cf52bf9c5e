/**
 * The hub's objects of a member: its Cluster, and the Secrets with its credentials, which are deleted with the Cluster.
 */
import { Cluster, impersonationSecretName, KARMADA_CLUSTER_NAMESPACE, SYSTEM_LABELS } from "@flotilla/karmada";
import { HUB } from "@flotilla/apimachinery";
import { Namespace, Secret } from "@flotilla/kubernetes";
import { FlotillaError } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { ensure } from "./member-account.ts";

export interface MemberRecord {
  name: string;
  namespace: string;
  /** Identifies a cluster, whatever its name. */
  id: string;
  apiEndpoint: string;
  ca: string;
  insecure: boolean;
  proxyUrl?: string;
  provider?: string;
  region?: string;
  zones?: string[];
  token: string;
  impersonatorToken: string;
}

export const secretsNamespace = KARMADA_CLUSTER_NAMESPACE;

/** The cluster that joins. */
export type JoiningCluster = Pick<MemberRecord, "name" | "id" | "apiEndpoint" | "proxyUrl">;

/** Rejects a name that another cluster uses, and a cluster that has joined under another name. */
export async function checkUnknown(client: Client, newcomer: JoiningCluster, signal: AbortSignal): Promise<void> {
  const { name, id } = newcomer;
  const { items } = await client.list(Cluster, { cluster: HUB, signal });
  const namesake = items.find(({ metadata }) => metadata.name === name);
  if (namesake?.metadata.deletionTimestamp)
    throw new FlotillaError("Joined", `${name} is being unjoined; try again when it is removed`);
  if (namesake && isSimulated(namesake) && isAt(namesake, newcomer))
    throw new FlotillaError(
      "Joined",
      `${name} is a simulated member of this hub and has already joined; nothing to do`,
    );
  const twin = items.find((cluster) => cluster !== namesake && (cluster.spec.id === id || isAt(cluster, newcomer)));
  if (twin)
    throw new FlotillaError(
      "Joined",
      `this cluster has joined as ${twin.metadata.name} already; ` +
        (isSimulated(twin) ? "a simulated member of the hub cannot join it again" : "unjoin it first"),
    );
  if (namesake && namesake.spec.id !== id)
    throw new FlotillaError("Joined", `another cluster has joined as ${name}; choose another name, or unjoin it first`);
}

/** The id of a simulated member is its name. */
const isSimulated = ({ metadata, spec }: DeepReadonly<Cluster>): boolean => spec.id === metadata.name;

/**
 * Whether the hub reaches both at the same address. The addresses of pull-mode clusters are often valid only inside
 * them, and equal in many.
 */
function isAt(cluster: DeepReadonly<Cluster>, { apiEndpoint, proxyUrl = "" }: JoiningCluster): boolean {
  const { spec } = cluster;
  return (
    (spec.syncMode === "Push" || isSimulated(cluster)) &&
    spec.apiEndpoint !== undefined &&
    bare(spec.apiEndpoint) === bare(apiEndpoint) &&
    (spec.proxyURL ?? "") === proxyUrl
  );
}

const bare = (address: string): string => address.replace(/\/+$/, "");

/** Idempotent: a member that has joined before gets new credentials. */
export async function recordMember(
  client: Client,
  record: MemberRecord,
  signal: AbortSignal,
): Promise<DeepReadonly<Cluster>> {
  const {
    name,
    namespace,
    id,
    apiEndpoint,
    ca,
    insecure,
    proxyUrl,
    provider,
    region,
    zones,
    token,
    impersonatorToken,
  } = record;
  const impersonator = impersonationSecretName(name);
  await ensure(
    client,
    Namespace,
    HUB,
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels: SYSTEM_LABELS } },
    signal,
  );
  await keepSecret(client, namespace, name, { token, caBundle: ca }, signal);
  await keepSecret(client, namespace, impersonator, { token: impersonatorToken }, signal);
  const spec: Cluster["spec"] = {
    syncMode: "Push",
    id,
    apiEndpoint,
    secretRef: { namespace, name },
    impersonatorSecretRef: { namespace, name: impersonator },
    insecureSkipTLSVerification: insecure || undefined,
    proxyURL: proxyUrl,
    provider: provider || undefined,
    region: region || undefined,
    zones: zones && zones.length > 0 ? zones : undefined,
  };
  const present = await find(client, Cluster, { cluster: HUB, name }, { signal });
  const cluster = present
    ? await client.patch(Cluster, { cluster: HUB, name }, { spec } as unknown as Json, { type: "merge", signal })
    : await client.create(
        Cluster,
        HUB,
        { apiVersion: "cluster.karmada.io/v1alpha1", kind: "Cluster", metadata: { name }, spec },
        { signal },
      );
  const owner = {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    name,
    uid: cluster.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
  for (const secret of [name, impersonator])
    await client.patch(
      Secret,
      { cluster: HUB, namespace, name: secret },
      { metadata: { ownerReferences: [owner] } },
      { type: "merge", signal },
    );
  return cluster;
}

async function keepSecret(
  client: Client,
  namespace: string,
  name: string,
  values: Record<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
  );
  const present = await find(client, Secret, { cluster: HUB, namespace, name }, { signal });
  if (present) await client.patch(Secret, { cluster: HUB, namespace, name }, { data }, { type: "merge", signal });
  else
    await client.create(
      Secret,
      HUB,
      { apiVersion: "v1", kind: "Secret", metadata: { namespace, name, labels: SYSTEM_LABELS }, data },
      { signal },
    );
}
