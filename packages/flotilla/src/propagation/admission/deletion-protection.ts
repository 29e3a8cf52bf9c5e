/**
 * Objects of the hub with Karmada's deletion protection label cannot be deleted until the label is removed. Copies on
 * members also carry the label but are not protected: the hub manages them.
 */
import { DELETION_PROTECTED } from "@flotilla/karmada";
import type { AdmissionStep } from "@flotilla/apimachinery";
import { deniedByWebhook } from "@flotilla/apimachinery";

export const createDeletionProtection = (hub: string): AdmissionStep => ({
  name: "DeletionProtection",
  on: ["DELETE"],
  matches: ({ cluster }) => cluster === hub,
  check({ object: { metadata } }) {
    if (metadata.labels?.[DELETION_PROTECTED] !== "Always") return;
    throw deniedByWebhook(
      "resourcedeletionprotection.karmada.io",
      403,
      `This resource is protected, please make sure to remove the label: ${DELETION_PROTECTED}`,
      "Forbidden",
    );
  },
});
