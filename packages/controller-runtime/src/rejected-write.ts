/** Whether an API server rejects a write for as long as something is not changed, or the error may be transient. */
import { ApiError, isNamespaceTerminating } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";

/** Status codes that mean a rejection. A version conflict, a namespace still to be created or an unavailable server is transient. */
const REJECTIONS: ReadonlySet<number> = new Set([400, 403, 413, 422]);
/** A webhook that does not answer, and whose failures are not ignored, rejects every write for as long as it lasts. */
const WEBHOOK_FAILED = /\bfailed calling webhook\b/;

export const isRejectedWrite = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  (REJECTIONS.has(error.status.code) || WEBHOOK_FAILED.test(error.message)) &&
  !isNamespaceTerminating(error);

/** `works.work.karmada.io "web-5d4f" is forbidden: `: users do not know the names of what the hub writes. */
const REJECTED_OBJECT = /^[a-z0-9.-]+ "[^"]*" is forbidden: /;

/** Why a write was rejected, without the name of the object. */
export const rejectionOf = (error: unknown): string => messageOf(error).replace(REJECTED_OBJECT, "");
