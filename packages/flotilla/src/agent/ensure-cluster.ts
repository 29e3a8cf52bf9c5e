/** A cluster that registers through Karmada's API creates its own Cluster, as Karmada's agent does at startup. */
import { Cluster } from "@flotilla/karmada";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { isAlreadyExists } from "@flotilla/apimachinery";
import { NameTakenError } from "./credentials/keep-credentials.ts";

export interface ClusterDescription {
  id: string;
  apiEndpoint: string;
  provider?: string;
  region?: string;
  zones?: readonly string[];
}

/** Rejects with `NameTakenError` when the name belongs to another cluster, or to a push cluster. */
export async function ensureCluster(
  client: Client,
  hub: string,
  name: string,
  { zones, ...description }: ClusterDescription,
  signal: AbortSignal,
): Promise<void> {
  const present = await find(client, Cluster, { cluster: hub, name }, { signal });
  if (present) {
    const { id, syncMode } = present.spec;
    if (id && id !== description.id)
      throw new NameTakenError(name, `its id is ${id}, and the id of this cluster is ${description.id}`);
    if (syncMode !== "Pull") throw new NameTakenError(name, "it is a push cluster (syncMode: Push)");
    return;
  }
  try {
    await client.create(
      Cluster,
      hub,
      {
        apiVersion: "cluster.karmada.io/v1alpha1",
        kind: "Cluster",
        metadata: { name },
        spec: { syncMode: "Pull", ...description, zones: zones && zones.length > 0 ? [...zones] : undefined },
      },
      { signal },
    );
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    await ensureCluster(client, hub, name, { ...description, zones }, signal);
  }
}
