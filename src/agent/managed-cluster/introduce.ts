/** The first thing that a new agent says to a hub: there is a cluster of this name, and this is where its API server is. */
import { AGENT_ANNOTATION_PREFIX, ManagedCluster } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { find } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import { ApiError, isAlreadyExists } from "../../machinery/index.ts";
import { NameTakenError } from "../credentials/keep-credentials.ts";

/** Which cluster it is: the uid of its namespace kube-system, so that another one under its name is noticed. */
export const CLUSTER_ID_ANNOTATION = `${AGENT_ANNOTATION_PREFIX}/cluster-id`;

export interface Introduction {
  hub: string;
  cluster: string;
  id: string;
  /** Where the API server of the member is, for people; empty leaves it out. */
  server: string;
  ca: string;
}

/** Rejects with `NameTakenError` when the name is another cluster's. One that an administrator prepared is taken as it is. */
export async function introduce(client: Client, { hub, cluster, id, server, ca }: Introduction, signal: AbortSignal): Promise<void> {
  const present = await read(client, hub, cluster, signal);
  if (present === "not ours to read") return;
  if (present) return check(present, id);
  const wanted: ManagedCluster = {
    apiVersion: "cluster.open-cluster-management.io/v1",
    kind: "ManagedCluster",
    metadata: { name: cluster, annotations: { [CLUSTER_ID_ANNOTATION]: id } },
    spec: { hubAcceptsClient: false, leaseDurationSeconds: 60, ...(server.startsWith("https://") && { managedClusterClientConfigs: [{ url: server, ...(ca !== "" && { caBundle: Buffer.from(ca).toString("base64") }) }] }) },
  };
  try {
    await client.create(ManagedCluster, hub, wanted, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    check(await client.get(ManagedCluster, { cluster: hub, name: cluster }, { signal }), id);
  }
}

/** A hub may let new agents ask for a certificate and nothing else; somebody there makes the ManagedCluster then. */
async function read(client: Client, hub: string, name: string, signal: AbortSignal): Promise<DeepReadonly<ManagedCluster> | undefined | "not ours to read"> {
  try {
    return await find(client, ManagedCluster, { cluster: hub, name }, { signal });
  } catch (error) {
    if (error instanceof ApiError && error.status.code === 403) return "not ours to read";
    throw error;
  }
}

function check({ metadata }: DeepReadonly<ManagedCluster>, id: string): void {
  const known = metadata.annotations?.[CLUSTER_ID_ANNOTATION];
  if (known !== undefined && known !== id) throw new NameTakenError(metadata.name, `its id is ${known}, and this one's is ${id}`);
}
