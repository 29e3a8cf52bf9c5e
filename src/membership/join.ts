/** Joining a member: the Cluster object that stands for it, and the namespace for its Works. Safe to repeat. */
import { Cluster, Namespace } from "../api/index.ts";
import type { Client } from "../client/index.ts";
import { isAlreadyExists } from "../machinery/index.ts";

export interface JoinRequest {
  name: string;
  apiEndpoint: string;
  /** Tells two clusters of one name apart; Karmada takes the uid of the namespace kube-system. */
  id: string;
  provider?: string;
  region?: string;
  zones?: string[];
}

export async function joinCluster(client: Client, hub: string, request: JoinRequest, signal: AbortSignal): Promise<void> {
  const { name, ...spec } = request;
  await createOnce(client.create(Namespace, hub, { apiVersion: "v1", kind: "Namespace", metadata: { name: `karmada-es-${name}` } }, { signal }));
  await createOnce(client.create(Cluster, hub, { apiVersion: "cluster.karmada.io/v1alpha1", kind: "Cluster", metadata: { name }, spec: { syncMode: "Push", ...spec } }, { signal }));
}

async function createOnce(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
