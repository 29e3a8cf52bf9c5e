/**
 * The deletion of a ManagedCluster: first its ManifestWorks, then its roles, its Lease and Karmada's Cluster of the
 * same member, then the object itself. Its namespace stays, as upstream, because it may contain users' objects.
 */
import {
  CLUSTER_LEASE,
  CLUSTER_RBAC_FINALIZER,
  CLUSTER_RESOURCES_FINALIZER,
  ManagedCluster,
  MANIFEST_WORK_FINALIZER,
  ManifestWork,
} from "@flotilla/ocm";
import { Cluster } from "@flotilla/karmada";
import { Lease } from "@flotilla/kubernetes";
import { findCondition, withCondition } from "@flotilla/apimachinery";
import { formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { done, unlessChanged } from "@flotilla/controller-runtime";
import type { EventRecorder, Informers, Result } from "@flotilla/controller-runtime";
import { agreementOf } from "../pairing/merge-registrations.ts";
import { createAgentAccess } from "./agent-access.ts";
import { AVAILABLE, HUB_ACCEPTED, silent, type Read } from "../cluster-conditions.ts";
import { planCleanUp, type RemovalMode } from "./plan-clean-up.ts";
import { FORCE_ANNOTATION } from "../../flotilla-names.ts";

/**
 * What a Karmada Cluster specifies for the workloads of its member: it is not leaving, they keep running, they are
 * deleted, or the member is not waited for.
 */
export type ClusterRemovalMode = "stays" | "release" | "purge" | "abandon";

export interface LeavingDependencies {
  hub: string;
  informers: Informers;
  client: Client;
  events: EventRecorder;
  clock: Clock;
  leaveModeOf(cluster: DeepReadonly<Cluster>): ClusterRemovalMode;
}

export interface Leaving {
  leave(cluster: Read, signal: AbortSignal): Promise<Result>;
}

const OWN_FINALIZERS: readonly string[] = [CLUSTER_RBAC_FINALIZER, CLUSTER_RESOURCES_FINALIZER];

export function createLeaving(deps: LeavingDependencies): Leaving {
  const { hub, informers, client, events, clock, leaveModeOf } = deps;
  const apis = informers.of(Cluster);
  const works = informers.of(ManifestWork);
  const leases = informers.of(Lease);
  const access = createAgentAccess({ hub, informers, client });

  /** An unjoined member keeps its workloads; deleting the ManagedCluster deletes them as its works specify. */
  function removalMode(cluster: Read): RemovalMode {
    const { name, annotations } = cluster.metadata;
    if (annotations?.[FORCE_ANNOTATION] === "true") return "abandon";
    const face = apis.get({ cluster: hub, name });
    if (!face) return agreementOf(cluster) ? "release" : "delete";
    const how = leaveModeOf(face);
    return how === "abandon" || how === "release" ? how : "delete";
  }

  async function deleteWork(
    { metadata, spec }: DeepReadonly<ManifestWork>,
    isOrphaning: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const key = { cluster: hub, namespace: metadata.namespace ?? "", name: metadata.name };
    if (isOrphaning && spec.deleteOption?.propagationPolicy !== "Orphan")
      await unlessChanged(
        client.patch(
          ManifestWork,
          key,
          { spec: { deleteOption: { propagationPolicy: "Orphan", selectivelyOrphans: null } } },
          { type: "merge", signal },
        ),
      );
    await unlessChanged(
      client.delete(ManifestWork, key, { preconditions: metadata.uid ? { uid: metadata.uid } : undefined, signal }),
    );
  }

  async function orphan({ metadata }: DeepReadonly<ManifestWork>, signal: AbortSignal): Promise<void> {
    const left = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== MANIFEST_WORK_FINALIZER);
    await unlessChanged(
      client.patch(
        ManifestWork,
        { cluster: hub, namespace: metadata.namespace ?? "", name: metadata.name },
        { metadata: { finalizers: left.length > 0 ? left : null } },
        { type: "merge", signal },
      ),
    );
  }

  async function removeRest(cluster: Read, signal: AbortSignal): Promise<void> {
    const { name } = cluster.metadata;
    await access.revoke(name, signal);
    // A stale Lease would make the next cluster of this name look dead.
    const lease = { cluster: hub, namespace: name, name: CLUSTER_LEASE };
    if (leases.get(lease)) await unlessChanged(client.delete(Lease, lease, { signal }));
    const face = apis.get({ cluster: hub, name });
    // Any holder of a bootstrap token can create a ManagedCluster that looks paired with a Cluster; only the hub sets
    // the acceptance.
    const isFace =
      agreementOf(cluster) !== undefined && findCondition(cluster.status?.conditions, HUB_ACCEPTED) !== undefined;
    if (!face || face.metadata.deletionTimestamp || !isFace) return;
    await unlessChanged(
      client.delete(
        Cluster,
        { cluster: hub, name },
        { preconditions: face.metadata.uid ? { uid: face.metadata.uid } : undefined, signal },
      ),
    );
  }

  return {
    async leave(cluster, signal) {
      const { name, finalizers = [], resourceVersion = null } = cluster.metadata;
      // Only finalizers of other controllers are left.
      if (!finalizers.some((finalizer) => OWN_FINALIZERS.includes(finalizer))) return done;
      const nowMs = clock.now();
      const plan = planCleanUp(cluster, works.list({ cluster: hub, namespace: name }), removalMode(cluster), nowMs);
      for (const work of plan.deletes) await deleteWork(work, plan.isOrphaning, signal);
      for (const work of plan.orphaned) await orphan(work, signal);
      if (plan.orphaned.length > 0)
        events.record(hub, cluster, {
          type: "Warning",
          reason: "ManifestWorksOrphaned",
          message:
            `managed cluster ${name} is removed without a response from its member: ${plan.orphaned.length} ` +
            "manifestworks are deleted on the hub, and their objects stay on the member",
        });

      if (plan.recheckMs !== undefined) {
        const before = cluster.status ?? { conditions: [] };
        const isSilent =
          !leases.get({ cluster: hub, namespace: name, name: CLUSTER_LEASE }) &&
          findCondition(before.conditions, AVAILABLE)?.status !== "Unknown";
        const conditions = [plan.condition, ...(isSilent ? [silent] : [])].reduce(
          (all, next) => withCondition(all, next, formatTime(nowMs)),
          before.conditions,
        );
        if (conditions !== before.conditions)
          await unlessChanged(
            client.updateStatus(ManagedCluster, hub, { ...cluster, status: { ...before, conditions } }, { signal }),
          );
        return { requeueAfterMs: plan.recheckMs };
      }
      await removeRest(cluster, signal);
      const left = finalizers.filter((finalizer) => !OWN_FINALIZERS.includes(finalizer));
      await unlessChanged(
        client.patch(
          ManagedCluster,
          { cluster: hub, name },
          { metadata: { resourceVersion, finalizers: left.length > 0 ? left : null } },
          { type: "merge", signal },
        ),
      );
      return done;
    },
  };
}
