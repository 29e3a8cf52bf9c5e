/** Storage drivers and their volumes on nodes. No driver runs on simulated members; the kinds are stored and validated. */
import type { KindDefinition } from "../definition/kind-definition.ts";
import { csiDriver } from "./csi-driver.ts";
import { csiNode } from "./csi-node.ts";
import { csiStorageCapacity } from "./csi-storage-capacity.ts";
import { volumeAttachment } from "./volume-attachment.ts";
import { volumeAttributesClass } from "./volume-attributes-class.ts";

export const csiDefinitions: readonly KindDefinition[] = [
  csiDriver,
  csiNode,
  csiStorageCapacity,
  volumeAttachment,
  volumeAttributesClass,
];
