/**
 * Objects of the hub with Karmada's label of protection are not deleted until the label is taken off. Copies on members
 * carry the label too, and are not protected there: the hub decides what members have.
 */
import { deniedByWebhook } from "../../machinery/index.ts";
import type { JsonObject } from "../../base/index.ts";
import type { Plugin } from "../plugin.ts";
import { HUB } from "../request/router.ts";
import { metadataOf } from "../write/metadata.ts";

const PROTECTION = "resourcetemplate.karmada.io/deletion-protected";

export const deletionProtection: Plugin = {
  name: "DeletionProtection",
  concerns: ({ cluster }, operation) => operation === "DELETE" && cluster.name === HUB,
  validate({ object }) {
    const labels = metadataOf(object as JsonObject).labels as Record<string, string> | undefined;
    if (labels?.[PROTECTION] !== "Always") return;
    throw deniedByWebhook(
      "resourcedeletionprotection.karmada.io",
      403,
      `This resource is protected, please make sure to remove the label: ${PROTECTION}`,
      "Forbidden",
    );
  },
};
