/**
 * Whether the hub refused a write, which people should hear of, or something stood in its way that is over at one of
 * the next tries.
 */
import { ApiError, isNamespaceTerminating } from "../machinery/index.ts";
import { OwnedSetError } from "../runtime/index.ts";

/** Answers that mean no. A conflict with a newer version, a namespace on its way or a server that is away passes. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 413, 422]);

export function isRefusal(error: unknown): boolean {
  const causes = error instanceof OwnedSetError ? error.errors : [error];
  return causes.some(
    (cause) => cause instanceof ApiError && REFUSALS.has(cause.status.code) && !isNamespaceTerminating(cause),
  );
}
