/**
 * Pairs registrations: a Karmada Cluster and an Open Cluster Management ManagedCluster with the same name represent the
 * same member, whichever was created first.
 *
 * Reads: Cluster, ManagedCluster.
 * Writes: the ManagedCluster of a member that the hub reaches; the Cluster, with sync mode Pull, of a member whose
 * agent joined; their shared labels and taints; the deletion of a ManagedCluster whose member was unjoined. Never
 * anything for a ManagedCluster that is not accepted.
 */
import {
  CLUSTER_RBAC_FINALIZER,
  CLUSTER_RESOURCES_FINALIZER,
  ManagedCluster,
  REACHED_BY_HUB_ANNOTATION,
} from "@flotilla/ocm";
import { Cluster } from "@flotilla/karmada";
import { equalJson, defined } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { findCondition, isAlreadyExists, isConditionTrue } from "@flotilla/apimachinery";
import { defineKeyedController, done, idOfKey, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Informers, Result } from "@flotilla/controller-runtime";
import { JOINED } from "../cluster-conditions.ts";
import {
  AGREEMENT_ANNOTATION,
  agreementOf,
  agreementText,
  isPaired,
  isSameAgreement,
  mergeRegistrations,
  NOTHING_AGREED,
} from "./merge-registrations.ts";
import { planCluster, planManagedCluster, clientConfigOf } from "./plan-registrations.ts";

export interface PairingDependencies {
  hub: string;
  informers: Informers;
  client: Client;
}

type Face = DeepReadonly<Cluster>;
type Managed = DeepReadonly<ManagedCluster>;

/** A missing object counts as deleted only while the hub's own list is complete. */
const RECHECK_MS = 5_000;
/** After a conflict: the newer version may differ only in its status, whose changes do not requeue the member. */
const CONFLICT_RETRY_MS = 500;

export function createClusterPairingController({ hub, informers, client }: PairingDependencies): Controller<ObjectKey> {
  const apis = informers.of(Cluster);
  const managed = informers.of(ManagedCluster);

  async function createManaged(face: Face, signal: AbortSignal): Promise<void> {
    // Before the first status collection there is nothing to report.
    if (face.spec.syncMode !== "Push" || !findCondition(face.status?.conditions, "Ready")) return;
    await unlessThere(
      client.create(
        ManagedCluster,
        hub,
        planManagedCluster(face, [CLUSTER_RESOURCES_FINALIZER, CLUSTER_RBAC_FINALIZER]),
        { signal },
      ),
    );
  }

  /** The Cluster was deleted, or does not exist yet. */
  async function without(cluster: Managed, signal: AbortSignal): Promise<Result> {
    if (agreementOf(cluster)) {
      if (!apis.fresh) return { requeueAfterMs: RECHECK_MS };
      await remove(cluster, signal);
    } else if (cluster.spec.hubAcceptsClient && isConditionTrue(cluster.status?.conditions, JOINED))
      await unlessThere(client.create(Cluster, hub, planCluster(cluster), { signal }));
    return done;
  }

  const remove = ({ metadata }: Managed, signal: AbortSignal): Promise<unknown> =>
    unlessChanged(
      client.delete(
        ManagedCluster,
        { cluster: hub, name: metadata.name },
        { preconditions: metadata.uid ? { uid: metadata.uid } : undefined, signal },
      ),
    );

  async function agree(face: Face, cluster: Managed, key: ObjectKey, signal: AbortSignal): Promise<Result> {
    const before = agreementOf(cluster);
    const merged = mergeRegistrations(face, cluster, before ?? NOTHING_AGREED);
    const { labels, taints } = merged.cluster;
    // The Cluster is written first: the agreement is written with the ManagedCluster, so that an interruption in
    // between converges to the same result.
    if (labels || taints) {
      const patch = {
        metadata: { resourceVersion: face.metadata.resourceVersion ?? null, labels },
        spec: taints ? { taints: taints.length > 0 ? taints : null } : undefined,
      };
      if (!(await unlessChanged(client.patch(Cluster, key, patch as unknown as Json, { type: "merge", signal }))))
        return { requeueAfterMs: CONFLICT_RETRY_MS };
    }
    const other = merged.managedCluster;
    const configs = clientConfigOf(face);
    const areConfigsOld =
      face.spec.syncMode === "Push" &&
      configs.length > 0 &&
      !equalJson(cluster.spec.managedClusterClientConfigs, configs);
    const isAgreed = isSameAgreement(before, merged.agreement);
    // It may have been created before it was known how the member is reached.
    const isMarked =
      face.spec.syncMode !== "Push" || cluster.metadata.annotations?.[REACHED_BY_HUB_ANNOTATION] === "true";
    if (isAgreed && isMarked && !other.labels && !other.taints && !areConfigsOld) return done;
    const annotations = defined({
      [AGREEMENT_ANNOTATION]: isAgreed ? undefined : agreementText(merged.agreement),
      [REACHED_BY_HUB_ANNOTATION]: isMarked ? undefined : "true",
    });
    const patch = {
      metadata: {
        resourceVersion: cluster.metadata.resourceVersion ?? null,
        annotations: !isAgreed || !isMarked ? annotations : undefined,
        labels: other.labels,
      },
      spec:
        other.taints || areConfigsOld
          ? {
              taints: other.taints ? (other.taints.length > 0 ? other.taints : null) : undefined,
              managedClusterClientConfigs: areConfigsOld ? configs : undefined,
            }
          : undefined,
    };
    const written = await unlessChanged(
      client.patch(ManagedCluster, key, patch as unknown as Json, { type: "merge", signal }),
    );
    return written ? done : { requeueAfterMs: CONFLICT_RETRY_MS };
  }

  return defineKeyedController<ObjectKey>({
    name: "ocm-apis",
    writes: [Cluster, ManagedCluster],
    idOf: idOfKey,
    sources: [
      // Other controllers report a member's status; here only the first Ready condition matters.
      watch(Cluster, ({ object, old, deleted }) =>
        old && !deleted && equalJson(marksOf(object), marksOf(old))
          ? []
          : [{ cluster: hub, name: object.metadata.name }],
      ),
      watch(ManagedCluster, ({ object, old, deleted }) =>
        old && !deleted && equalJson(managedMarksOf(object), managedMarksOf(old))
          ? []
          : [{ cluster: hub, name: object.metadata.name }],
      ),
    ],

    async reconcile(key, { signal }) {
      const [face, cluster] = [apis.get(key), managed.get(key)];
      // A ManagedCluster that is being deleted deletes the Cluster itself.
      if (cluster?.metadata.deletionTimestamp) return done;
      if (face?.metadata.deletionTimestamp) {
        if (cluster && isPaired(cluster)) await remove(cluster, signal);
      } else if (!cluster) {
        if (face) await createManaged(face, signal);
      } else if (!face) return without(cluster, signal);
      else if (cluster.spec.hubAcceptsClient) return agree(face, cluster, key, signal);
      return done;
    },
  });
}

const marksOf = ({ metadata, spec, status }: Face): unknown => [
  metadata.labels,
  metadata.deletionTimestamp,
  spec,
  findCondition(status?.conditions, "Ready") !== undefined,
];
const managedMarksOf = ({ metadata, spec, status }: Managed): unknown => [
  metadata.labels,
  metadata.annotations?.[AGREEMENT_ANNOTATION],
  metadata.deletionTimestamp,
  spec,
  isConditionTrue(status?.conditions, JOINED),
];

/** Another writer created it first; the informer will deliver it. */
async function unlessThere(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
