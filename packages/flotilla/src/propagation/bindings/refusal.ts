/** Whether the hub rejected a write, which is reported, or the error is transient. */
import { ApiError, isNamespaceTerminating } from "@flotilla/apimachinery";
import { OwnedSetError } from "@flotilla/controller-runtime";

/**
 * Status codes that mean a rejection. A version conflict, a namespace still to be created or an unavailable server is
 * transient.
 */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 413, 422]);
/** A webhook that does not answer, and whose failures are not ignored, rejects every write for as long as it lasts. */
const WEBHOOK_FAILED = /\bfailed calling webhook\b/;

export function isRefusal(error: unknown): boolean {
  const causes = error instanceof OwnedSetError ? error.failed.map((write) => write.error) : [error];
  return causes.some(
    (cause) =>
      cause instanceof ApiError &&
      (REFUSALS.has(cause.status.code) || WEBHOOK_FAILED.test(cause.message)) &&
      !isNamespaceTerminating(cause),
  );
}
