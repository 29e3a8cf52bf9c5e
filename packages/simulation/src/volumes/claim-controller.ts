/**
 * Claims of simulated members: binds them to an existing or a provisioned volume, expands them, and protects them while
 * a pod uses them.
 *
 * Reads: PersistentVolumeClaim, PersistentVolume, StorageClass, Pod, Node.
 * Writes: PersistentVolume; PersistentVolumeClaim: `spec.volumeName`, status, and the finalizer that protects a claim
 * in use.
 */
import { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "@flotilla/kubernetes";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { isAlreadyExists } from "@flotilla/apimachinery";
import { defineController, done, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informers, ObjectEvent } from "@flotilla/controller-runtime";
import { NO_PROVISIONER, SELECTED_NODE, claimNamesOf, classNameOf, isReachable } from "../placement/volume-needs.ts";
import { isOver } from "../placement/views.ts";
import { isReservedFor, sizeOf } from "../placement/volume-match.ts";
import { PROVISIONED_BY, claimReference, planVolume } from "./provision.ts";
import type { VolumeReads } from "../placement/volume-reads.ts";

type Claim = DeepReadonly<PersistentVolumeClaim>;
type Volume = DeepReadonly<PersistentVolume>;

export interface VolumeDependencies {
  client: Client;
  informers: Informers;
  clock: Clock;
  volumes: VolumeReads;
  events?: EventRecorder | undefined;
}

const PROTECTION = "kubernetes.io/pvc-protection";
const BOUND_ANNOTATIONS = { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" };
const PROVISIONER_ANNOTATION = "volume.kubernetes.io/storage-provisioner";

export function createClaimController({
  client,
  informers,
  volumes: reads,
  events,
}: VolumeDependencies): Controller<ObjectKey> {
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
      if (claim.metadata.deletionTimestamp) await removeFinalizer(claim, key, signal);
      else if (claim.status?.phase === "Bound") await keep(claim, key, signal);
      else {
        const volume = await volumeFor(claim, key, signal);
        if (volume) await bind(claim, volume, key.cluster, signal);
      }
      return done;
    },
  });

  function claimsOf(cluster: string, { spec, status }: Volume, isChanged: boolean): ObjectKey[] {
    const { namespace, name } = spec?.claimRef ?? {};
    if (name && namespace) return [{ cluster, namespace, name }];
    return isChanged && status?.phase === "Available" ? pendingOf(cluster) : [];
  }

  function releasedClaims({ cluster, object, deleted }: ObjectEvent<Pod>): ObjectKey[] {
    if (!object.spec.volumes?.length || (!deleted && !isOver(object))) return [];
    const { namespace = "" } = object.metadata;
    return claimNamesOf(object).flatMap((name) =>
      reads.claims.get({ cluster, namespace, name })?.metadata.deletionTimestamp ? [{ cluster, namespace, name }] : [],
    );
  }

  /** Pods without a node and finished pods do not protect a claim. */
  async function removeFinalizer(
    claim: Claim,
    { cluster, namespace = "", name }: ObjectKey,
    signal: AbortSignal,
  ): Promise<void> {
    const finalizers = claim.metadata.finalizers ?? [];
    const isUsed = reads.podsUsing(cluster, namespace, name).some((pod) => pod.spec.nodeName && !isOver(pod));
    if (isUsed || !finalizers.includes(PROTECTION)) return;
    await unlessChanged(
      client.update(
        PersistentVolumeClaim,
        cluster,
        { ...claim, metadata: { ...claim.metadata, finalizers: finalizers.filter((item) => item !== PROTECTION) } },
        { signal },
      ),
    );
  }

  /** A bound claim without its volume is Lost; one that requests more storage is expanded. */
  async function keep(claim: Claim, { cluster }: ObjectKey, signal: AbortSignal): Promise<void> {
    const volume = reads.volumes.get({ cluster, name: claim.spec?.volumeName ?? "" });
    if (!volume) {
      if (!reads.volumes.fresh) return;
      await unlessChanged(
        client.updateStatus(PersistentVolumeClaim, cluster, { ...claim, status: { phase: "Lost" } }, { signal }),
      );
      events?.record(cluster, claim, {
        type: "Warning",
        reason: "ClaimLost",
        message: "Bound claim has lost its PersistentVolume. Data on the volume is lost!",
      });
      return;
    }
    const wanted = claim.spec?.resources?.requests?.["storage"];
    if (wanted === undefined || sizeOf({ storage: wanted }) <= sizeOf(claim.status?.capacity)) return;
    const grown =
      sizeOf(volume.spec?.capacity) >= sizeOf({ storage: wanted })
        ? volume
        : await unlessChanged(
            client.update(
              PersistentVolume,
              cluster,
              { ...volume, spec: { ...volume.spec, capacity: { ...volume.spec?.capacity, storage: wanted } } },
              { signal },
            ),
          );
    if (grown)
      await unlessChanged(
        client.updateStatus(
          PersistentVolumeClaim,
          cluster,
          { ...claim, status: { ...claim.status, capacity: { ...claim.status?.capacity, storage: wanted } } },
          { signal },
        ),
      );
  }

  async function volumeFor(claim: Claim, { cluster }: ObjectKey, signal: AbortSignal): Promise<Volume | undefined> {
    const named = claim.spec?.volumeName;
    if (named) {
      const volume = reads.volumes.get({ cluster, name: named });
      return volume && (!volume.spec?.claimRef || isReservedFor(volume, claim)) ? volume : undefined;
    }
    const held = reads.heldBy(cluster, claim);
    if (held) return held; // An earlier binding was interrupted.
    const className = classNameOf(claim);
    const storageClass = className === "" ? undefined : reads.classes.get({ cluster, name: className });
    const nodeName = claim.metadata.annotations?.[SELECTED_NODE];
    if (storageClass?.volumeBindingMode === "WaitForFirstConsumer" && nodeName === undefined) return undefined;
    const node = nodeName === undefined ? undefined : nodes.get({ cluster, name: nodeName });
    const found = reads.candidates(cluster, claim).find((volume) => !node || isReachable(volume, { node }));
    if (found) return found;
    if (!storageClass) {
      if (className !== "")
        events?.record(cluster, claim, {
          type: "Warning",
          reason: "ProvisioningFailed",
          message: `storageclass.storage.k8s.io ${JSON.stringify(className)} not found`,
        });
      return undefined;
    }
    return storageClass.provisioner === NO_PROVISIONER ? undefined : provision(claim, storageClass, cluster, signal);
  }

  async function provision(
    claim: Claim,
    storageClass: DeepReadonly<StorageClass>,
    cluster: string,
    signal: AbortSignal,
  ): Promise<Volume | undefined> {
    const volume = planVolume(claim, storageClass);
    try {
      return await client.create(PersistentVolume, cluster, volume, { signal });
    } catch (error) {
      // Created by an earlier attempt whose remaining steps failed.
      if (isAlreadyExists(error))
        return client.get(PersistentVolume, { cluster, name: volume.metadata.name }, { signal });
      throw error;
    }
  }

  /** Writes the volume first: a bound claim must have its volume. */
  async function bind(claim: Claim, volume: Volume, cluster: string, signal: AbortSignal): Promise<void> {
    const isTaken = volume.spec?.claimRef?.uid === claim.metadata.uid;
    const taken = isTaken
      ? volume
      : await unlessChanged(
          client.update(
            PersistentVolume,
            cluster,
            { ...volume, spec: { ...volume.spec, claimRef: claimReference(claim) } },
            { signal },
          ),
        );
    if (!taken) return;
    if (
      taken.status?.phase !== "Bound" &&
      !(await unlessChanged(
        client.updateStatus(
          PersistentVolume,
          cluster,
          { ...taken, status: { ...taken.status, phase: "Bound" } },
          { signal },
        ),
      ))
    )
      return;
    const provisioner = taken.metadata.annotations?.[PROVISIONED_BY];
    const annotations = {
      ...claim.metadata.annotations,
      ...BOUND_ANNOTATIONS,
      ...(provisioner && { [PROVISIONER_ANNOTATION]: provisioner }),
    };
    const named = await unlessChanged(
      client.update(
        PersistentVolumeClaim,
        cluster,
        {
          ...claim,
          metadata: { ...claim.metadata, annotations },
          spec: { ...claim.spec, volumeName: taken.metadata.name },
        },
        { signal },
      ),
    );
    if (!named) return;
    const { accessModes = [], capacity = {} } = taken.spec ?? {};
    await unlessChanged(
      client.updateStatus(
        PersistentVolumeClaim,
        cluster,
        { ...named, status: { ...named.status, phase: "Bound", accessModes, capacity } },
        { signal },
      ),
    );
  }
}
