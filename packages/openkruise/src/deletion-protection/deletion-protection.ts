/** Deletion protection: a label protects objects from accidental deletion. */
import type { KruiseFeature } from "../api/kruise-definition.ts";
import { createDeletionProtectionAdmissions } from "./deletion-protection-admission.ts";

export const deletionProtection: KruiseFeature = { webhooks: createDeletionProtectionAdmissions };
