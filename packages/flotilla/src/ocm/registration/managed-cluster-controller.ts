/**
 * ManagedCluster on the hub: sets a cluster up once it is accepted, watches its lease, taints it by its availability,
 * and cleans up when it is deleted.
 *
 * Reads: ManagedCluster, ManagedClusterSet, ManifestWork, its Lease and roles; Karmada's Cluster of the same name and
 * the claims of its member.
 * Writes: the namespace, roles and Lease of a cluster; in the ManagedCluster the finalizers, the availability taints
 * and the status: acceptance, clock, namespaces, expired leases, and the full status of a member that the hub reaches
 * itself. For ManifestWorks only their deletion. Beside: agents write the rest of the status; `apis` syncs labels and
 * the other taints with Karmada's Cluster.
 *
 * A member that the hub reaches has no agent: it gets no roles, so that no other client can report for it. Its Lease is
 * renewed when it becomes available rather than every minute, because only the hub would read it.
 */
import { CLUSTER_LEASE, CLUSTER_NAME_LABEL, ManagedCluster, ManagedClusterSet, ManifestWork } from "@flotilla/ocm";
import { Cluster } from "@flotilla/karmada";
import { ClusterRole, ClusterRoleBinding, Lease, Namespace, RoleBinding } from "@flotilla/kubernetes";
import { equalJson, formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { findCondition } from "@flotilla/apimachinery";
import { defineController, done, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informers, ObjectEvent, Result } from "@flotilla/controller-runtime";
import { planReport } from "../pairing/plan-report.ts";
import { createAgentAccess } from "./agent-access.ts";
import type { ClusterSets } from "./cluster-sets.ts";
import { AVAILABLE } from "../cluster-conditions.ts";
import type { Leaving } from "./leaving.ts";
import { planAvailabilityTaints } from "./plan-availability-taints.ts";
import { expiresAtMs, nextRenewal, type Renewal } from "./plan-lease.ts";
import { planStatus } from "./plan-status.ts";
import type { MemberClaims } from "../pairing/member-claims.ts";
import { reportClusterChange } from "./managed-cluster-events.ts";
import { createClusterSetUp } from "./set-up-cluster.ts";

export interface ManagedClusterDependencies {
  hub: string;
  informers: Informers;
  client: Client;
  events: EventRecorder;
  clock: Clock;
  sets: ClusterSets;
  leaving: Leaving;
  claims: MemberClaims;
  /** New clusters are accepted automatically; a later denial by an administrator wins. */
  acceptsAll: boolean;
}

const BY_SET = "ocm.namespacesOf";

export function createManagedClusterController(deps: ManagedClusterDependencies): Controller<ObjectKey> {
  const { hub, informers, client, events, clock, sets, leaving, claims, acceptsAll } = deps;
  const clusters = informers.of(ManagedCluster);
  const apis = informers.of(Cluster);
  const leases = informers.of(Lease);
  const access = createAgentAccess({ hub, informers, client });
  const setUp = createClusterSetUp({ hub, client, clock, access, acceptsAll });
  const renewals = new Map<string, Renewal>();
  clusters.addIndex(BY_SET, ({ status }) => [
    ...new Set((status?.managedNamespaces ?? []).map(({ clusterSet }) => clusterSet)),
  ]);

  const byLabel = ({ object }: ObjectEvent): ObjectKey[] => {
    const name = object.metadata.labels?.[CLUSTER_NAME_LABEL];
    return name ? [{ cluster: hub, name }] : [];
  };
  const ofSet = ({ object, old }: ObjectEvent<ManagedClusterSet>): ObjectKey[] => {
    const { name } = object.metadata;
    if (
      !object.spec.managedNamespaces?.length &&
      !old?.spec.managedNamespaces?.length &&
      clusters.by(BY_SET, name).length === 0
    )
      return [];
    return [...new Set([...sets.members(name), ...clusters.by(BY_SET, name).map(({ metadata }) => metadata.name)])].map(
      (cluster) => ({ cluster: hub, name: cluster }),
    );
  };

  return defineController({
    name: "ocm-registration",
    for: ManagedCluster,
    watches: [
      watch(Cluster, ({ object, old, deleted }) =>
        old && !deleted && equalJson(reportedOf(object), reportedOf(old))
          ? []
          : [{ cluster: hub, name: object.metadata.name }],
      ),
      watch(Lease, ({ object }) =>
        object.metadata.name === CLUSTER_LEASE && object.metadata.namespace
          ? [{ cluster: hub, name: object.metadata.namespace }]
          : [],
      ),
      watch(Namespace, (event) => (event.deleted ? byLabel(event) : [])),
      watch(ClusterRole, byLabel),
      watch(ClusterRoleBinding, byLabel),
      watch(RoleBinding, byLabel),
      // Only clusters that are being deleted, were denied, or whose namespace is being deleted wait for their works to
      // be deleted.
      watch(ManifestWork, ({ object: { metadata }, deleted }) => {
        const cluster = deleted ? clusters.get({ cluster: hub, name: metadata.namespace ?? "" }) : undefined;
        return cluster &&
          (cluster.metadata.deletionTimestamp ||
            !cluster.spec.hubAcceptsClient ||
            access.isEnding(cluster.metadata.name))
          ? [{ cluster: hub, name: cluster.metadata.name }]
          : [];
      }),
      watch(ManagedClusterSet, ofSet),
      { source: claims.source },
    ],
    writes: [ManagedCluster, Namespace, ClusterRole, ClusterRoleBinding, RoleBinding, Lease, ManifestWork, Cluster],
    concurrency: 16,

    async reconcile(cluster, { log, signal }): Promise<Result> {
      const { name } = cluster.metadata;
      if (cluster.metadata.deletionTimestamp) return leaving.leave(cluster, signal);
      if (!(await setUp.prepare(cluster, signal))) return done;

      const face = apis.get({ cluster: hub, name });
      const isReached = face?.spec.syncMode === "Push";
      const { condition, hasNamespace = false, failure } = await setUp.admit(cluster, isReached, signal);
      const lease = leases.get({ cluster: hub, namespace: name, name: CLUSTER_LEASE });
      const nowMs = clock.now();
      const renewal = lease && nextRenewal(renewals.get(name), lease, nowMs);
      if (renewal) renewals.set(name, renewal);

      const status = planStatus(cluster, {
        access: condition,
        report: isReached && cluster.spec.hubAcceptsClient ? planReport(face, claims.of(name)) : undefined,
        renewal: isReached ? undefined : renewal,
        sets: sets.of(cluster),
        nowMs,
        now: formatTime(nowMs),
      });
      const conditions = status?.conditions ?? cluster.status?.conditions ?? [];
      if (status) {
        const written = await unlessChanged(
          client.updateStatus(ManagedCluster, hub, { ...cluster, status }, { signal }),
        );
        if (written) reportClusterChange({ hub, events, log }, cluster, conditions, isReached);
      }
      if (failure) throw failure;

      const isAvailable = findCondition(conditions, AVAILABLE)?.status;
      // An agent renews its own, existing Lease.
      const isBack =
        isReached && isAvailable === "True" && findCondition(cluster.status?.conditions, AVAILABLE)?.status !== "True";
      if (condition?.status === "True" && hasNamespace && (!lease || isBack)) await setUp.renew(name, lease, signal);
      if (status) return done; // The write produces an event, which requeues this cluster.

      const taints = planAvailabilityTaints(cluster.spec.taints ?? [], isAvailable);
      if (taints)
        await unlessChanged(
          client.patch(
            ManagedCluster,
            { cluster: hub, name },
            {
              metadata: { resourceVersion: cluster.metadata.resourceVersion ?? null },
              spec: { taints: taints.length > 0 ? taints : null },
            } as unknown as Json,
            { type: "merge", signal },
          ),
        );
      const expiresInMs = renewal && !isReached && condition ? expiresAtMs(cluster, renewal) - nowMs : 0;
      return expiresInMs > 0 ? { requeueAfterMs: expiresInMs } : done;
    },

    forget({ name }) {
      renewals.delete(name);
    },
  });
}

/** The fields of a Cluster that matter to its ManagedCluster. */
const reportedOf = ({ metadata, spec, status }: DeepReadonly<Cluster>): unknown => [
  metadata.deletionTimestamp,
  spec,
  findCondition(status?.conditions, "Ready"),
  status?.kubernetesVersion,
  status?.resourceSummary?.allocatable,
];
