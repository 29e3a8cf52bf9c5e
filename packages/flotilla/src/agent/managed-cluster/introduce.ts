/** First registration of a new agent with a hub: creates the ManagedCluster with the API server's address. */
import { CLUSTER_ID_ANNOTATION, ManagedCluster, REACHED_BY_HUB_ANNOTATION } from "@flotilla/ocm";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { ApiError, isAlreadyExists } from "@flotilla/apimachinery";
import { NameTakenError } from "../credentials/keep-credentials.ts";

export interface Introduction {
  hub: string;
  cluster: string;
  id: string;
  /** Address of the member's API server, shown to users; empty omits it. */
  server: string;
  ca: string;
}

/** Registration state of a cluster on the hub: just created, already known, unknown, or not visible to this agent. */
export type RegistrationState = "made" | "known" | "unknown" | "untold";

/**
 * Rejects with `NameTakenError` when the name belongs to another cluster. A ManagedCluster that an administrator
 * created in advance is used unchanged.
 */
export async function introduce(
  client: Client,
  introduction: Introduction,
  signal: AbortSignal,
): Promise<RegistrationState> {
  const { hub, cluster, id, server, ca } = introduction;
  const standing = await registrationStateOf(client, { hub, cluster, id }, signal);
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
 * The same without registering. A hub may let new agents only request a certificate; an administrator creates the
 * ManagedCluster there.
 */
export async function registrationStateOf(
  client: Client,
  { hub, cluster, id }: Pick<Introduction, "hub" | "cluster" | "id">,
  signal: AbortSignal,
): Promise<Exclude<RegistrationState, "made">> {
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
  if (metadata.annotations?.[REACHED_BY_HUB_ANNOTATION] === "true")
    throw new NameTakenError(metadata.name, "it is reached directly by the hub");
  const known = metadata.annotations?.[CLUSTER_ID_ANNOTATION];
  if (known !== undefined && known !== id)
    throw new NameTakenError(metadata.name, `its id is ${known}, and the id of this cluster is ${id}`);
}
