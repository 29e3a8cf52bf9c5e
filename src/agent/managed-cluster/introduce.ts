/**
 * The first thing that a new agent says to a hub: there is a cluster of this name, and this is where its API server is.
 */
import { CLUSTER_ID_ANNOTATION, ManagedCluster, REACHED_ANNOTATION } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { find } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import { ApiError, isAlreadyExists } from "../../machinery/index.ts";
import { NameTakenError } from "../credentials/keep-credentials.ts";

export interface Introduction {
  hub: string;
  cluster: string;
  id: string;
  /** Where the API server of the member is, for people; empty leaves it out. */
  server: string;
  ca: string;
}

/** How a hub knows a cluster: it was just told of it, it knew it, it does not, or it does not say. */
export type Standing = "made" | "known" | "unknown" | "untold";

/**
 * Rejects with `NameTakenError` when the name is another cluster's. One that an administrator prepared is taken as it
 * is.
 */
export async function introduce(
  client: Client,
  { hub, cluster, id, server, ca }: Introduction,
  signal: AbortSignal,
): Promise<Standing> {
  const standing = await standingOf(client, { hub, cluster, id }, signal);
  if (standing !== "unknown") return standing;
  const wanted: ManagedCluster = {
    apiVersion: "cluster.open-cluster-management.io/v1",
    kind: "ManagedCluster",
    metadata: { name: cluster, annotations: { [CLUSTER_ID_ANNOTATION]: id } },
    spec: {
      hubAcceptsClient: false,
      leaseDurationSeconds: 60,
      managedClusterClientConfigs: server.startsWith("https://")
        ? [{ url: server, caBundle: ca !== "" ? Buffer.from(ca).toString("base64") : undefined }]
        : undefined,
    },
  };
  try {
    await client.create(ManagedCluster, hub, wanted, { signal });
    return "made";
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    check(await client.get(ManagedCluster, { cluster: hub, name: cluster }, { signal }), id);
    return "known";
  }
}

/**
 * The same without telling it anything. A hub may let new agents ask for a certificate and nothing else; somebody there
 * makes the ManagedCluster then.
 */
export async function standingOf(
  client: Client,
  { hub, cluster, id }: Pick<Introduction, "hub" | "cluster" | "id">,
  signal: AbortSignal,
): Promise<Exclude<Standing, "made">> {
  try {
    const present = await find(client, ManagedCluster, { cluster: hub, name: cluster }, { signal });
    if (present) check(present, id);
    return present ? "known" : "unknown";
  } catch (error) {
    if (error instanceof ApiError && error.status.code === 403) return "untold";
    throw error;
  }
}

function check({ metadata }: DeepReadonly<ManagedCluster>, id: string): void {
  if (metadata.annotations?.[REACHED_ANNOTATION] === "true")
    throw new NameTakenError(metadata.name, "the hub reaches it by itself");
  const known = metadata.annotations?.[CLUSTER_ID_ANNOTATION];
  if (known !== undefined && known !== id)
    throw new NameTakenError(metadata.name, `its id is ${known}, and this one's is ${id}`);
}
