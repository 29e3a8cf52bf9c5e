/** The StorageClass that simulated members have from the start. */
import { DEFAULT_STORAGE_CLASS_ANNOTATION } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";

/** The provisioner of simulated members. It also serves classes of other provisioners. */
const PROVISIONER = "simulation.flotilla.dev/volumes";

export function standardStorageClass(): KubernetesObject {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "standard", annotations: { [DEFAULT_STORAGE_CLASS_ANNOTATION]: "true" } },
    provisioner: PROVISIONER,
    reclaimPolicy: "Delete",
    volumeBindingMode: "Immediate",
    allowVolumeExpansion: true,
  } as KubernetesObject;
}
