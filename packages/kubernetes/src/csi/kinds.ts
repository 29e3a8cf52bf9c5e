/** Storage drivers and their volumes on nodes. No driver runs on simulated members; the kinds are stored and validated. */
import type { KindGroup } from "../optional-kinds.ts";
import { CSIDriver, admissions as csiDriver } from "./csi-driver.ts";
import { CSINode, admissions as csiNode } from "./csi-node.ts";
import { CSIStorageCapacity, admissions as csiStorageCapacity } from "./csi-storage-capacity.ts";
import { VolumeAttachment, admissions as volumeAttachment } from "./volume-attachment.ts";
import { VolumeAttributesClass, admissions as volumeAttributesClass } from "./volume-attributes-class.ts";

export const csiKinds: KindGroup = {
  kinds: [CSIDriver, CSINode, CSIStorageCapacity, VolumeAttachment, VolumeAttributesClass],
  admissions: [...csiDriver, ...csiNode, ...csiStorageCapacity, ...volumeAttachment, ...volumeAttributesClass],
};
