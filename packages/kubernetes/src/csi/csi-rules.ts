/** The rules of storage drivers and their volumes: loaded together when the first of their objects is written. */
export { csiDriverRules } from "./csi-driver-rules.ts";
export { csiNodeRules } from "./csi-node-rules.ts";
export { csiStorageCapacityRules } from "./csi-storage-capacity-rules.ts";
export { volumeAttachmentRules } from "./volume-attachment-rules.ts";
export { volumeAttributesClassRules } from "./volume-attributes-class-rules.ts";
