/** What stands in the way of a manifest, and so when it is worth another try. Pure. */
import { CredentialsError, UnknownKindError, UnreachableError } from "../client/index.ts";
import { ApiError, isNamespaceTerminating } from "../machinery/index.ts";
import { BusyMemberError } from "./member-lanes.ts";

/**
 * `busy` and `unreachable` are over when the member has time or answers; `refused` and `missing-kind` last until
 * somebody changes something; everything else (a race, a namespace that is on its way, a server in trouble) passes by
 * itself.
 */
export type Obstacle = "busy" | "unreachable" | "missing-kind" | "refused" | "passing";

/**
 * Answers that mean no, whoever in the member said it: validation, a webhook, a quota, missing rights, a verb that is
 * not there.
 */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 405, 406, 413, 415, 422, 501]);

/** Whether a request that got no answer may have been carried out all the same. */
export function mayHaveArrived(error: unknown): boolean {
  return error instanceof UnreachableError && error.mayHaveArrived;
}

/** Another manager has a field that we want otherwise and may not take: no second try changes that. */
export function isFieldConflict(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    (error.status.details?.causes?.some(({ reason }) => reason === "FieldManagerConflict") ?? false)
  );
}

export function obstacleOf(error: unknown): Obstacle {
  if (error instanceof BusyMemberError) return "busy";
  // A member that does not let us in is asked no more often than one that is away: every Work would hear the same.
  if (
    error instanceof UnreachableError ||
    error instanceof CredentialsError ||
    (error instanceof ApiError && error.status.code === 401)
  )
    return "unreachable";
  if (error instanceof UnknownKindError) return "missing-kind";
  if (!(error instanceof ApiError) || isNamespaceTerminating(error)) return "passing";
  // A webhook answers with whatever code it likes.
  return REFUSALS.has(error.status.code) ||
    isFieldConflict(error) ||
    /^admission webhook .* denied the request/.test(error.message)
    ? "refused"
    : "passing";
}
