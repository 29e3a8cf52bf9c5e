/**
 * The unversioned Go types of storage kinds, as messages about immutable fields print them. The notation is that of
 * `INTERNAL_TYPES`.
 */
export const STORAGE_INTERNAL_TYPES: Readonly<Record<string, string>> = {
  CSINodeDriver: "Name:s NodeID=nodeID:s TopologyKeys:[]s Allocatable:*VolumeNodeResources",
  PersistentVolumeSpec:
    "Capacity:map:q .PersistentVolumeSource AccessModes:[]s ClaimRef:*ObjectReference PersistentVolumeReclaimPolicy:s StorageClassName:s MountOptions:[]s VolumeMode:*s NodeAffinity:*VolumeNodeAffinity VolumeAttributesClassName:*s",
  VolumeAttachmentSource: "PersistentVolumeName:*s InlineVolumeSpec:*PersistentVolumeSpec",
  VolumeAttachmentSpec: "Attacher:s Source:VolumeAttachmentSource NodeName:s",
  VolumeNodeAffinity: "Required:*NodeSelector",
  VolumeNodeResources: "Count:*n",
};
