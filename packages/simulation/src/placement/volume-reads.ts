/**
 * Claims, volumes and classes of the members as the simulation reads them, with the indexes that make each query cheap.
 */
import { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { Informer, Informers } from "@flotilla/controller-runtime";
import { claimNamesOf, classNameOf } from "./volume-needs.ts";
import type { VolumeReader } from "./volume-needs.ts";
import { volumeClassOf, volumesFor } from "./volume-match.ts";

type ReadonlyPod = DeepReadonly<Pod>;

export interface VolumeReads {
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly classes: Informer<StorageClass>;
  podsUsing(cluster: string, namespace: string, claim: string): ReadonlyPod[];
  /** The reader for the volumes of one pod. */
  reader(cluster: string, pod: ReadonlyPod): VolumeReader;
  candidates(cluster: string, claim: DeepReadonly<PersistentVolumeClaim>): DeepReadonly<PersistentVolume>[];
  /** The volume that already references the claim, even if the claim does not reference it yet. */
  heldBy(cluster: string, claim: DeepReadonly<PersistentVolumeClaim>): DeepReadonly<PersistentVolume> | undefined;
}

const BY_CLAIM = "simulation-claim";
const UNBOUND = "simulation-unbound";
const BY_HOLDER = "simulation-holder";

/** Call it once per set of informers, because it adds indexes to them. */
export function createVolumeReads(informers: Informers): VolumeReads {
  const pods = informers.of(Pod);
  const claims = informers.of(PersistentVolumeClaim);
  const volumes = informers.of(PersistentVolume);
  const classes = informers.of(StorageClass);
  pods.addIndex(BY_CLAIM, (pod, cluster) =>
    pod.spec.volumes?.length ? claimNamesOf(pod).map((name) => `${cluster}/${pod.metadata.namespace}/${name}`) : [],
  );
  // Most volumes stay bound; only unbound ones are scanned.
  volumes.addIndex(UNBOUND, (volume, cluster) =>
    volume.status?.phase === "Bound" || volume.status?.phase === "Released"
      ? []
      : [`${cluster}/${volumeClassOf(volume)}`],
  );

  volumes.addIndex(BY_HOLDER, ({ spec }, cluster) => (spec?.claimRef?.uid ? [`${cluster}/${spec.claimRef.uid}`] : []));

  const podsUsing = (cluster: string, namespace: string, claim: string): ReadonlyPod[] =>
    pods.by(BY_CLAIM, `${cluster}/${namespace}/${claim}`);
  const candidates: VolumeReads["candidates"] = (cluster, claim) =>
    volumesFor(claim, volumes.by(UNBOUND, `${cluster}/${classNameOf(claim)}`));
  return {
    claims,
    volumes,
    classes,
    podsUsing,
    candidates,
    heldBy: (cluster, { metadata }) =>
      volumes.by(BY_HOLDER, `${cluster}/${metadata.uid ?? ""}`).find((volume) => !volume.metadata.deletionTimestamp),
    reader(cluster, { metadata: { namespace = "", uid } }) {
      return {
        claim: (name) => claims.get({ cluster, namespace, name }),
        volume: (name) => volumes.get({ cluster, name }),
        storageClass: (name) => classes.get({ cluster, name }),
        candidates: (claim) => candidates(cluster, claim),
        isUsedByOther: (name) =>
          podsUsing(cluster, namespace, name).some(
            ({ metadata, spec, status }) =>
              metadata.uid !== uid && spec.nodeName && status?.phase !== "Succeeded" && status?.phase !== "Failed",
          ),
      };
    },
  };
}
