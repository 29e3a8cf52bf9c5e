/**
 * Volumes of simulated members: free ones are Available, those whose claim was deleted are Released, and deleted if the
 * reclaim policy requires it.
 *
 * Reads: PersistentVolume, PersistentVolumeClaim.
 * Writes: PersistentVolume: its phase, and the finalizer that protects a bound volume. Deletes released volumes.
 */
import { PersistentVolume, PersistentVolumeClaim, VOLUME_PROTECTION_FINALIZER } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import type { VolumeDependencies } from "./claim-controller.ts";

type Volume = DeepReadonly<PersistentVolume>;
type Claim = DeepReadonly<PersistentVolumeClaim>;

/** Pure. `claim` is the claim that the volume references, if one of that name exists. */
function planVolumePhase(
  { spec, status }: Volume,
  claim: Claim | undefined,
): "Available" | "Bound" | "Released" | "Pending" {
  const { claimRef } = spec ?? {};
  if (!claimRef?.uid) return "Available";
  if (claim?.metadata.uid !== claimRef.uid) return "Released";
  return status?.phase === "Bound" || claim.status?.phase === "Bound" ? "Bound" : "Pending";
}

export function createVolumeController({ client, volumes: reads }: VolumeDependencies): Controller<ObjectKey> {
  const claimOf = (cluster: string, { spec }: Volume): Claim | undefined => {
    const { namespace, name } = spec?.claimRef ?? {};
    return name && namespace ? reads.claims.get({ cluster, namespace, name }) : undefined;
  };
  return defineController({
    name: "volumes",
    for: PersistentVolume,
    watches: [
      watch(PersistentVolumeClaim, ({ cluster, object: { spec }, deleted }) =>
        deleted && spec?.volumeName ? [{ cluster, name: spec.volumeName }] : [],
      ),
    ],
    writes: [PersistentVolume],

    async reconcile(volume, { key, signal }) {
      const { cluster } = key;
      const { metadata, spec } = volume;
      const phase = planVolumePhase(volume, claimOf(cluster, volume));
      if (metadata.deletionTimestamp) {
        if (phase === "Bound" || !metadata.finalizers?.includes(VOLUME_PROTECTION_FINALIZER)) return done;
        await unlessChanged(
          client.update(
            PersistentVolume,
            cluster,
            {
              ...volume,
              metadata: {
                ...metadata,
                finalizers: metadata.finalizers.filter((item) => item !== VOLUME_PROTECTION_FINALIZER),
              },
            },
            { signal },
          ),
        );
        return done;
      }
      // The informer may lag: a claim that was not seen is not necessarily deleted.
      if (phase === "Released" && !reads.claims.fresh) return { requeueAfterMs: 1_000 };
      if (phase === "Released" && spec?.persistentVolumeReclaimPolicy === "Delete") {
        await unlessChanged(
          client.delete(PersistentVolume, key, { preconditions: { uid: metadata.uid ?? "" }, signal }),
        );
        return done;
      }
      if (phase === "Released" && spec?.persistentVolumeReclaimPolicy === "Recycle") {
        const { claimRef: _, ...free } = spec;
        await unlessChanged(client.update(PersistentVolume, cluster, { ...volume, spec: free }, { signal }));
        return done;
      }
      // While a claim is being bound, its controller writes the phase.
      if (phase !== "Pending" && phase !== volume.status?.phase)
        await unlessChanged(
          client.updateStatus(
            PersistentVolume,
            cluster,
            { ...volume, status: { ...volume.status, phase } },
            { signal },
          ),
        );
      return done;
    },
  });
}
