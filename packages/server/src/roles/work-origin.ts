/** How members identify ManifestWorks of this hub. */
import { hash } from "node:crypto";
import type { Client } from "@flotilla/client";
import type { WorkOrigin } from "@flotilla/flotilla";
import { Namespace } from "@flotilla/kubernetes";

/** The uid of `kube-system` identifies a cluster, as in Kubernetes. */
export async function readWorkOrigin(client: Client, hub: string): Promise<WorkOrigin> {
  const { metadata } = await client.get(Namespace, { cluster: hub, name: "kube-system" });
  const hubHash = hash("sha256", metadata.uid ?? hub, "hex");
  return { hubHash, agentID: hubHash };
}
