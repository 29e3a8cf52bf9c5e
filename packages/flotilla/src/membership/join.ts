/** Joins a simulated member: creates its Cluster and the namespace for its Works. Idempotent. */
import {
  Cluster,
  CLUSTER_FINALIZER,
  CLUSTER_NOT_READY_TAINT,
  executionNamespace,
  SYSTEM_LABELS,
} from "@flotilla/karmada";
import { CLUSTER_ID_ANNOTATION, ManagedCluster } from "@flotilla/ocm";
import { Namespace } from "@flotilla/kubernetes";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";

export interface JoinRequest {
  name: string;
  apiEndpoint: string;
  /** Distinguishes two clusters of one name; Karmada uses the uid of the kube-system namespace. */
  id: string;
  provider?: string;
  region?: string;
  zones?: string[];
  /** Unset is Push: the hub connects to it. */
  syncMode?: "Push" | "Pull";
}

export async function joinCluster(
  client: Client,
  hub: string,
  request: JoinRequest,
  signal: AbortSignal,
): Promise<void> {
  const { name, ...spec } = request;
  await ensure(
    client,
    Namespace,
    hub,
    { apiVersion: "v1", kind: "Namespace", metadata: { name: executionNamespace(name), labels: SYSTEM_LABELS } },
    signal,
  );
  // Includes the fields that the lifecycle controller would add, which saves its writes.
  const wanted: Cluster = {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name, finalizers: [CLUSTER_FINALIZER] },
    spec: {
      ...spec,
      syncMode: spec.syncMode ?? "Push",
      taints: [{ key: CLUSTER_NOT_READY_TAINT, effect: "NoSchedule" }],
    },
  };
  const cluster = await ensure(client, Cluster, hub, wanted, signal);
  // A simulated member that joined before may have moved; a real cluster that joined under its name keeps its own
  // endpoint.
  if (cluster.spec.secretRef === undefined && cluster.spec.apiEndpoint !== spec.apiEndpoint)
    await client.patch(
      Cluster,
      { cluster: hub, name },
      { spec: { apiEndpoint: spec.apiEndpoint } },
      { type: "merge", signal },
    );
}

/**
 * Registers a pull member as an accepted ManagedCluster too: hub and member run in one process, so no approval is
 * needed. Its name is its id, as for every simulated member.
 */
export async function acceptMember(client: Client, hub: string, name: string, signal: AbortSignal): Promise<void> {
  await ensure(
    client,
    ManagedCluster,
    hub,
    {
      apiVersion: "cluster.open-cluster-management.io/v1",
      kind: "ManagedCluster",
      metadata: { name, annotations: { [CLUSTER_ID_ANNOTATION]: name } },
      spec: { hubAcceptsClient: true, leaseDurationSeconds: 60 },
    },
    signal,
  );
}

/** Creates the object if it is missing; an existing one is left unchanged. */
async function ensure<T extends KubernetesObject>(
  client: Client,
  kind: Kind<T>,
  cluster: string,
  object: DeepReadonly<T>,
  signal: AbortSignal,
): Promise<DeepReadonly<T>> {
  return (
    (await find(client, kind, { cluster, name: object.metadata.name }, { signal })) ??
    client.create(kind, cluster, object, { signal })
  );
}
