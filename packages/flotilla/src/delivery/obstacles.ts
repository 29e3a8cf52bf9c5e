/** Classifies why a manifest cannot be delivered, and so when to retry it. Pure. */
import { CredentialsError, UnknownKindError, UnreachableError } from "@flotilla/client";
import { ApiError, isNamespaceTerminating } from "@flotilla/apimachinery";
import { BusyMemberError } from "./member-lanes.ts";
import { StoppedWriteError } from "./stopped-write.ts";

/**
 * `busy` and `unreachable` end when the member has capacity or answers; `refused` and `missing-kind` last until the
 * object or the member is changed; `stopped` is our own decision not to write, until something changes; everything else
 * (a conflict, a namespace still to be created, a failing server) is
 * transient.
 */
export type Obstacle = "busy" | "unreachable" | "missing-kind" | "refused" | "stopped" | "passing";

/**
 * Status codes that mean a rejection, regardless of its source: validation, a webhook, a quota, missing permissions, an
 * unsupported verb.
 */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 405, 406, 413, 415, 422, 501]);

/** Whether a request without an answer may have been carried out. */
export function mayHaveArrived(error: unknown): boolean {
  return error instanceof UnreachableError && error.mayHaveArrived;
}

/** Another manager owns a field that we want to change and may not take: a retry does not help. */
export function isFieldConflict(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    (error.status.details?.causes?.some(({ reason }) => reason === "FieldManagerConflict") ?? false)
  );
}

export function obstacleOf(error: unknown): Obstacle {
  if (error instanceof BusyMemberError) return "busy";
  if (error instanceof StoppedWriteError) return "stopped";
  // A member that rejects our credentials is tried no more often than an unreachable one: every Work would get the same
  // answer.
  if (
    error instanceof UnreachableError ||
    error instanceof CredentialsError ||
    (error instanceof ApiError && error.status.code === 401)
  )
    return "unreachable";
  if (error instanceof UnknownKindError) return "missing-kind";
  if (!(error instanceof ApiError) || isNamespaceTerminating(error)) return "passing";
  // A webhook may return any code.
  return REFUSALS.has(error.status.code) ||
    isFieldConflict(error) ||
    /^admission webhook .* denied the request/.test(error.message)
    ? "refused"
    : "passing";
}
