/** The volume that is provisioned for a claim. Nothing is stored, so its path does not exist. Pure. */
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";

type Claim = DeepReadonly<PersistentVolumeClaim>;

export const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";

export function claimReference({ metadata }: Claim): NonNullable<NonNullable<PersistentVolume["spec"]>["claimRef"]> {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    namespace: namespace || undefined,
    name,
    uid: uid || undefined,
    resourceVersion: resourceVersion || undefined,
  };
}

export function planVolume(
  claim: Claim,
  { metadata, provisioner, reclaimPolicy = "Delete", mountOptions }: DeepReadonly<StorageClass>,
): DeepReadonly<PersistentVolume> {
  const { accessModes = [], resources, volumeMode = "Filesystem", volumeAttributesClassName } = claim.spec ?? {};
  const name = `pvc-${claim.metadata.uid ?? ""}`;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, annotations: { [PROVISIONED_BY]: provisioner } },
    spec: {
      accessModes,
      capacity: { storage: resources?.requests?.["storage"] ?? "0" },
      claimRef: claimReference(claim),
      hostPath: { path: `/simulated/${name}` },
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: metadata.name,
      volumeMode,
      mountOptions: mountOptions?.length ? mountOptions : undefined,
      volumeAttributesClassName: volumeAttributesClassName || undefined,
    },
  };
}
