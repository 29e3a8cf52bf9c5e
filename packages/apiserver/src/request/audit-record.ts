/** What the audit log learns of a request while it is handled. Requests that are not audited have no record. */
import type { Json, JsonObject } from "@flotilla/base";
import type { UserInfo } from "./user-info.ts";

/** How much of a request is recorded, from nothing to both bodies. */
export const AUDIT_LEVELS = ["None", "Metadata", "Request", "RequestResponse"] as const;
export type AuditLevel = (typeof AUDIT_LEVELS)[number];

export interface AuditRecord {
  /** Recorded from this level on; a later value for the same key is ignored, as in Kubernetes. */
  annotate(key: string, value: string, from?: AuditLevel): void;
  /**
   * The JSON patch of a webhook, as an annotation with the fields of `webhook`: recorded from the level Request on, with
   * the omissions of bodies.
   */
  patched(key: string, webhook: JsonObject, patch: Json): void;
  /** The request acts as another user than its sender. */
  impersonated(user: UserInfo): void;
  /** The decoded body. Only the first call counts, because admission changes the object afterwards. */
  sent(body: Json): void;
  /** The object or list that the client receives. `make` is called only if it is recorded. */
  answered(make: () => JsonObject): void;
}
