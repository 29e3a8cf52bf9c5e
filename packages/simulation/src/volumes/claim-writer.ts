/**
 * Writes claims and their volumes.
 *
 * Writes: PersistentVolume; PersistentVolumeClaim: `spec.volumeName`, status, and the finalizer that protects a claim
 * in use.
 */
import { omitZero } from "@flotilla/base";
import { isAlreadyExists } from "@flotilla/apimachinery";
import {
  PersistentVolume,
  PersistentVolumeClaim,
  CLAIM_PROTECTION_FINALIZER,
  BIND_COMPLETED_ANNOTATION,
  BOUND_BY_CONTROLLER_ANNOTATION,
  STORAGE_PROVISIONER_ANNOTATION,
} from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { unlessChanged } from "@flotilla/controller-runtime";
import { sizeOf } from "../placement/volume-match.ts";
import { PROVISIONED_BY, claimReference } from "./provision.ts";

type Claim = DeepReadonly<PersistentVolumeClaim>;
type Volume = DeepReadonly<PersistentVolume>;

const BOUND_ANNOTATIONS = { [BIND_COMPLETED_ANNOTATION]: "yes", [BOUND_BY_CONTROLLER_ANNOTATION]: "yes" };

export interface ClaimWriter {
  /** The claim is deleted when no pod uses it. */
  removeFinalizer(claim: Claim, cluster: string, signal: AbortSignal): Promise<void>;
  markLost(claim: Claim, cluster: string, signal: AbortSignal): Promise<void>;
  /** Grows the volume and the claim to the requested storage, if that is more. */
  expand(claim: Claim, volume: Volume, cluster: string, signal: AbortSignal): Promise<void>;
  provision(volume: Volume, cluster: string, signal: AbortSignal): Promise<Volume>;
  /** Writes the volume first: a bound claim must have its volume. */
  bind(claim: Claim, volume: Volume, cluster: string, signal: AbortSignal): Promise<void>;
}

export function createClaimWriter(client: Client): ClaimWriter {
  /** Reserves the volume for the claim; undefined if another client changed it in the meantime. */
  async function take(volume: Volume, claim: Claim, cluster: string, signal: AbortSignal): Promise<Volume | undefined> {
    const spec = { ...volume.spec, claimRef: claimReference(claim) };
    const taken =
      volume.spec?.claimRef?.uid === claim.metadata.uid
        ? volume
        : await unlessChanged(client.update(PersistentVolume, cluster, { ...volume, spec }, { signal }));
    if (!taken || taken.status?.phase === "Bound") return taken;
    const status: Volume["status"] = { ...taken.status, phase: "Bound" };
    return unlessChanged(client.updateStatus(PersistentVolume, cluster, { ...taken, status }, { signal }));
  }

  return {
    async removeFinalizer(claim, cluster, signal) {
      const finalizers = claim.metadata.finalizers ?? [];
      if (!finalizers.includes(CLAIM_PROTECTION_FINALIZER)) return;
      const metadata = {
        ...claim.metadata,
        finalizers: finalizers.filter((item) => item !== CLAIM_PROTECTION_FINALIZER),
      };
      await unlessChanged(client.update(PersistentVolumeClaim, cluster, { ...claim, metadata }, { signal }));
    },

    async markLost(claim, cluster, signal) {
      await unlessChanged(
        client.updateStatus(PersistentVolumeClaim, cluster, { ...claim, status: { phase: "Lost" } }, { signal }),
      );
    },

    async expand(claim, volume, cluster, signal) {
      const wanted = claim.spec?.resources?.requests?.["storage"];
      if (wanted === undefined || sizeOf({ storage: wanted }) <= sizeOf(claim.status?.capacity)) return;
      const spec = { ...volume.spec, capacity: { ...volume.spec?.capacity, storage: wanted } };
      const grown =
        sizeOf(volume.spec?.capacity) >= sizeOf({ storage: wanted })
          ? volume
          : await unlessChanged(client.update(PersistentVolume, cluster, { ...volume, spec }, { signal }));
      if (!grown) return;
      const status = { ...claim.status, capacity: { ...claim.status?.capacity, storage: wanted } };
      await unlessChanged(client.updateStatus(PersistentVolumeClaim, cluster, { ...claim, status }, { signal }));
    },

    async provision(volume, cluster, signal) {
      try {
        return await client.create(PersistentVolume, cluster, volume, { signal });
      } catch (error) {
        // Created by an earlier attempt whose remaining steps failed.
        if (isAlreadyExists(error))
          return client.get(PersistentVolume, { cluster, name: volume.metadata.name }, { signal });
        throw error;
      }
    },

    async bind(claim, volume, cluster, signal) {
      const taken = await take(volume, claim, cluster, signal);
      if (!taken) return;
      const provisioner = taken.metadata.annotations?.[PROVISIONED_BY];
      const annotations = {
        ...claim.metadata.annotations,
        ...BOUND_ANNOTATIONS,
        ...omitZero({ [STORAGE_PROVISIONER_ANNOTATION]: provisioner }),
      };
      const spec = { ...claim.spec, volumeName: taken.metadata.name };
      const named = await unlessChanged(
        client.update(
          PersistentVolumeClaim,
          cluster,
          { ...claim, metadata: { ...claim.metadata, annotations }, spec },
          { signal },
        ),
      );
      if (!named) return;
      const { accessModes = [], capacity = {} } = taken.spec ?? {};
      const status: Claim["status"] = { ...named.status, phase: "Bound", accessModes, capacity };
      await unlessChanged(client.updateStatus(PersistentVolumeClaim, cluster, { ...named, status }, { signal }));
    },
  };
}
