/**
 * Claims of simulated members: binds them to an existing or a provisioned volume, expands them, and protects them while
 * a pod uses them.
 *
 * Reads: PersistentVolumeClaim, PersistentVolume, StorageClass, Pod, Node.
 * Writes: PersistentVolume; PersistentVolumeClaim: `spec.volumeName`, status, and the finalizer that protects a claim
 * in use.
 */
import {
  claimUses,
  isUseOf,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from "@flotilla/kubernetes";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineController, done, keyOf, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informers, ObjectEvent } from "@flotilla/controller-runtime";
import { claimNamesOf } from "../placement/volume-needs.ts";
import type { VolumeReads } from "../placement/volume-reads.ts";
import { createClaimWriter } from "./claim-writer.ts";
import { planBinding } from "./plan-volume-binding.ts";
import { planVolume } from "./provision.ts";

type Claim = DeepReadonly<PersistentVolumeClaim>;
type Volume = DeepReadonly<PersistentVolume>;

export interface VolumeDependencies {
  client: Client;
  informers: Informers;
  clock: Clock;
  volumes: VolumeReads;
  events?: EventRecorder | undefined;
}

export function createClaimController({
  client,
  informers,
  volumes: reads,
  events,
}: VolumeDependencies): Controller<ObjectKey> {
  const writer = createClaimWriter(client);
  const nodes = informers.of(Node);
  const pendingOf = (cluster: string): ObjectKey[] =>
    reads.claims.list({ cluster }).flatMap((claim) => (claim.status?.phase === "Bound" ? [] : [keyOf(cluster, claim)]));

  return defineController({
    name: "volume-claims",
    for: PersistentVolumeClaim,
    watches: [
      // A pending claim may take this volume; a bound claim may have lost it.
      watch(PersistentVolume, ({ cluster, object, old, deleted }) =>
        claimsOf(cluster, object, deleted || old?.status?.phase !== object.status?.phase),
      ),
      watch(StorageClass, ({ cluster, deleted }) => (deleted ? [] : pendingOf(cluster))),
      // A terminating claim waits for its last pod.
      watch(Pod, releasedClaims),
    ],
    writes: [PersistentVolumeClaim, PersistentVolume],

    async reconcile(claim, { key, signal }) {
      const { cluster } = key;
      if (claim.metadata.deletionTimestamp) {
        if (!isUsed(claim, key)) await writer.removeFinalizer(claim, cluster, signal);
      } else if (claim.status?.phase === "Bound") await keep(claim, cluster, signal);
      else await bind(claim, cluster, signal);
      return done;
    },
  });

  function claimsOf(cluster: string, { spec, status }: Volume, isChanged: boolean): ObjectKey[] {
    const { namespace, name } = spec?.claimRef ?? {};
    if (name && namespace) return [{ cluster, namespace, name }];
    return isChanged && status?.phase === "Available" ? pendingOf(cluster) : [];
  }

  function releasedClaims({ cluster, object, deleted }: ObjectEvent<Pod>): ObjectKey[] {
    const { namespace = "", deletionTimestamp } = object.metadata;
    if (!object.spec.volumes?.length || (!deleted && deletionTimestamp === undefined)) return [];
    return claimNamesOf(object).flatMap((name) =>
      reads.claims.get({ cluster, namespace, name })?.metadata.deletionTimestamp ? [{ cluster, namespace, name }] : [],
    );
  }

  function isUsed(claim: Claim, { cluster, namespace = "", name }: ObjectKey): boolean {
    return reads.podsUsing(cluster, namespace, name).some((pod) => claimUses(pod).some((use) => isUseOf(use, claim)));
  }

  /** A bound claim without its volume is Lost; one that requests more storage is expanded. */
  async function keep(claim: Claim, cluster: string, signal: AbortSignal): Promise<void> {
    const volume = reads.volumes.get({ cluster, name: claim.spec?.volumeName ?? "" });
    if (volume) return writer.expand(claim, volume, cluster, signal);
    if (!reads.volumes.fresh) return;
    await writer.markLost(claim, cluster, signal);
    events?.record(cluster, claim, {
      type: "Warning",
      reason: "ClaimLost",
      message: "Bound claim has lost its PersistentVolume. Data on the volume is lost!",
    });
  }

  async function bind(claim: Claim, cluster: string, signal: AbortSignal): Promise<void> {
    const plan = planBinding(claim, cluster, reads, (name) => nodes.get({ cluster, name }));
    if ("missingClass" in plan)
      events?.record(cluster, claim, {
        type: "Warning",
        reason: "ProvisioningFailed",
        message: `storageclass.storage.k8s.io ${JSON.stringify(plan.missingClass)} not found`,
      });
    if ("bindTo" in plan) await writer.bind(claim, plan.bindTo, cluster, signal);
    if ("provisionBy" in plan) {
      const volume = await writer.provision(planVolume(claim, plan.provisionBy), cluster, signal);
      await writer.bind(claim, volume, cluster, signal);
    }
  }
}
