/** Reads the status of a fleet through the hub's API, page by page, keeping little of each object. */
import {
  Cluster,
  ClusterResourceBinding,
  KARMADA_CLUSTER_NAMESPACE,
  KARMADA_SYSTEM_NAMESPACE,
  ResourceBinding,
  Work,
} from "@flotilla/karmada";
import {
  CLUSTER_LEASE,
  ManagedCluster,
  ManifestWork,
  ManifestWorkReplicaSet,
  OCM_HUB_NAMESPACE,
  OcmPlacement,
} from "@flotilla/ocm";
import { Deployment, Lease } from "@flotilla/kubernetes";
import { ApiError, HUB, isNotFound } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { eachObject } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { failedChecksOf, HUB_CHECKS_PATH } from "../hub-checks.ts";
import { readText } from "../members/ask.ts";
import type { ComponentsStatus, FleetStatus, WorkloadStatus } from "./fleet-status.ts";
import { summariseMembers } from "./members.ts";
import { createUnhealthyCollector } from "./unhealthy.ts";
import { summariseWorkload } from "./workloads.ts";

/** The namespaces of Karmada's and Open Cluster Management's components on a hub. */
const COMPONENT_NAMESPACES = [KARMADA_SYSTEM_NAMESPACE, OCM_HUB_NAMESPACE];

export async function readStatus(
  client: Client,
  server: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<FleetStatus> {
  const notShown: string[] = [];
  const notServed = new Set<string>();
  const unwell = createUnhealthyCollector();
  const workloads: WorkloadStatus[] = [];

  /**
   * Passes on every object and counts them. A kind that the hub does not serve has none; a kind that may not be listed
   * is reported.
   */
  async function each<T extends KubernetesObject>(
    kind: Kind<T>,
    see: (object: DeepReadonly<T>) => void,
  ): Promise<number> {
    let count = 0;
    try {
      for await (const object of eachObject(client, kind, { cluster: HUB, signal })) {
        count += 1;
        see(object);
      }
    } catch (error) {
      if (isForbidden(error)) notShown.push(kind.plural);
      else if (isNotFound(error)) notServed.add(kind.kind);
      else throw error;
    }
    return count;
  }
  async function all<T extends KubernetesObject>(kind: Kind<T>): Promise<DeepReadonly<T>[]> {
    const found: DeepReadonly<T>[] = [];
    await each(kind, (object) => void found.push(object));
    return found;
  }

  const [clusters, managedClusters, leases, components, failedChecks] = await Promise.all([
    all(Cluster),
    all(ManagedCluster),
    readLeases(client, signal),
    readComponents(client, signal),
    readFailedChecks(client, signal),
  ]);
  // Reporting an empty fleet would be wrong.
  if (notServed.has(Cluster.kind) && notServed.has(ManagedCluster.kind))
    throw new FlotillaError(
      "NoHub",
      `${server} serves neither Clusters nor ManagedClusters, so it is not a hub; specify the hub's kubeconfig with --kubeconfig FILE, or start a hub with 'flotilla up'`,
    );
  for (const check of failedChecks) unwell.hubCheck(check);
  const members = summariseMembers({ clusters, managedClusters, leases, nowMs });
  for (const member of members) unwell.member(member);
  const [bindings, clusterBindings, works, manifestWorks, placements, replicaSets] = await Promise.all([
    each(ResourceBinding, (binding) => {
      unwell.binding(binding);
      workloads.push(summariseWorkload(binding));
    }),
    each(ClusterResourceBinding as unknown as Kind<ResourceBinding>, unwell.binding),
    each(Work, unwell.work),
    each(ManifestWork, unwell.manifestWork),
    each(OcmPlacement, unwell.placement),
    each(ManifestWorkReplicaSet, unwell.replicaSet),
  ]);
  return {
    server,
    components,
    members,
    objects: { bindings: bindings + clusterBindings, works, manifestWorks, placements, replicaSets },
    unwell: unwell.result(),
    workloads,
    notShown: notShown.toSorted(),
  };
}

/** The names of the hub's own failing checks. Empty if the user may not read them, or the server has none. */
async function readFailedChecks(client: Client, signal: AbortSignal): Promise<string[]> {
  const { status, body } = await client.raw(
    { method: "GET", path: HUB_CHECKS_PATH, cluster: HUB, headers: { accept: "text/plain" } },
    signal,
  );
  const page = await readText(body);
  return status < 500 ? [] : failedChecksOf(page);
}

/**
 * A user who may not read them still gets everything else. A hub may run its components elsewhere, and then has none.
 */
async function readComponents(client: Client, signal: AbortSignal): Promise<ComponentsStatus[]> {
  const found: ComponentsStatus[] = [];
  for (const namespace of COMPONENT_NAMESPACES) {
    try {
      const deployments = await Array.fromAsync(eachObject(client, Deployment, { cluster: HUB, namespace, signal }));
      const unready = deployments
        .filter(({ spec, status }) => (status?.readyReplicas ?? 0) < (spec.replicas ?? 1))
        .map(({ metadata }) => metadata.name);
      if (deployments.length > 0) found.push({ namespace, total: deployments.length, unready });
    } catch (error) {
      if (!isForbidden(error) && !isNotFound(error)) throw error;
    }
  }
  return found;
}

/** A user who may not read them still gets everything else. */
async function readLeases(client: Client, signal: AbortSignal): Promise<DeepReadonly<Lease>[]> {
  const found: DeepReadonly<Lease>[] = [];
  for (const where of [{ namespace: KARMADA_CLUSTER_NAMESPACE }, { fieldSelector: `metadata.name=${CLUSTER_LEASE}` }]) {
    try {
      for await (const lease of eachObject(client, Lease, { cluster: HUB, ...where, signal })) found.push(lease);
    } catch (error) {
      if (!isForbidden(error) && !isNotFound(error)) throw error;
    }
  }
  return found;
}

const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.status.code === 403;
