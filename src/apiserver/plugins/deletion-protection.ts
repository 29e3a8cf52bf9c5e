/**
 * Objects of the hub with Karmada's deletion protection label cannot be deleted until the label is removed. Copies on
 * members also carry the label but are not protected: the hub manages them.
 */
import { DELETION_PROTECTION, HUB } from "../../api/index.ts";
import { deniedByWebhook } from "../../machinery/index.ts";
import type { JsonObject } from "../../base/index.ts";
import type { Plugin } from "../plugin.ts";
import { metadataOf } from "../write/metadata.ts";

export const deletionProtection: Plugin = {
  name: "DeletionProtection",
  concerns: ({ cluster }, operation) => operation === "DELETE" && cluster.name === HUB,
  validate({ object }) {
    const labels = metadataOf(object as JsonObject).labels as Record<string, string> | undefined;
    if (labels?.[DELETION_PROTECTION] !== "Always") return;
    throw deniedByWebhook(
      "resourcedeletionprotection.karmada.io",
      403,
      `This resource is protected, please make sure to remove the label: ${DELETION_PROTECTION}`,
      "Forbidden",
    );
  },
};
