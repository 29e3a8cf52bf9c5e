/**
 * Kubernetes API failures: a `Status` with a reason that clients switch on and a message for users.
 *
 * `ApiError` carries a Status. The API server throws it, both transports deliver it, controllers check
 * `isNotFound(error)`.
 */
import { FlotillaError } from "@flotilla/base";
import type { FieldError } from "./field.ts";

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface Status {
  kind: "Status";
  apiVersion: "v1";
  metadata: { resourceVersion?: string; continue?: string };
  status: "Success" | "Failure";
  message?: string;
  reason?: string;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: StatusCause[];
    retryAfterSeconds?: number;
  };
  code: number;
}

/**
 * An answer to a request. The mistakes of clients (4xx) have no stack: recording one takes longer than a small request, and
 * a client that asks for what does not exist would make the server spend most of its time on it.
 */
export class ApiError extends FlotillaError {
  readonly status: Status;
  constructor(status: Status, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    if (status.code >= 400 && status.code < 500) Error.stackTraceLimit = 0;
    super(status.reason ?? "Unknown", status.message ?? `the server responded with ${status.code}`, options);
    Error.stackTraceLimit = stackTraceLimit;
    this.status = status;
  }
}

/** The subject of a failure: the plural resource and its group. */
export interface ResourceName {
  group: string;
  resource: string;
}

function failure(code: number, reason: string, message: string, details?: Status["details"]): ApiError {
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    details,
    code,
  });
}
const about = ({ group, resource }: ResourceName, name?: string): Status["details"] => ({
  name: name || undefined,
  group: group || undefined,
  kind: resource,
});
/** `deployments.apps`, the name of a resource in messages. */
export const qualified = ({ group, resource }: ResourceName): string => (group ? `${resource}.${group}` : resource);

export const badRequest = (message: string): ApiError => failure(400, "BadRequest", message);
/** Usually without details: `why` is only for facts that the owner of the credentials can see anyway. */
export const unauthorized = (why?: string): ApiError =>
  failure(401, "Unauthorized", why === undefined ? "Unauthorized" : `Unauthorized: ${why}`);
export const forbidden = (resource: ResourceName, name: string, why: string): ApiError =>
  failure(
    403,
    "Forbidden",
    `${qualified(resource)}${name ? ` "${name}"` : ""} is forbidden: ${why}`,
    about(resource, name),
  );
export const notFound = (resource: ResourceName, name: string): ApiError =>
  failure(404, "NotFound", `${qualified(resource)} "${name}" not found`, about(resource, name));
export const pathNotFound = (): ApiError =>
  failure(404, "NotFound", "the server could not find the requested resource", {});
export const methodNotAllowed = (
  message = "the server does not allow this method on the requested resource",
): ApiError => failure(405, "MethodNotAllowed", message, {});
export const verbNotSupported = (resource: ResourceName, verb: string): ApiError =>
  failure(
    405,
    "MethodNotAllowed",
    `${verb} is not supported on resources of kind ${JSON.stringify(qualified(resource))}`,
    about(resource),
  );
export const notAcceptable = (message: string): ApiError => failure(406, "NotAcceptable", message, {});
export const alreadyExists = (resource: ResourceName, name: string): ApiError =>
  failure(409, "AlreadyExists", `${qualified(resource)} "${name}" already exists`, about(resource, name));
/** The same for an object with a `generateName`, even when it also has a name. */
export const generatedNameTaken = (resource: ResourceName, name: string): ApiError =>
  failure(
    409,
    "AlreadyExists",
    `${qualified(resource)} "${name}" already exists, the server was not able to generate a unique name for the object`,
    { ...about(resource, name), retryAfterSeconds: 1 },
  );
export const conflict = (resource: ResourceName, name: string, why: string): ApiError =>
  failure(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`,
    about(resource, name),
  );
export const CONFLICT_MESSAGE =
  "the object has been modified; please apply your changes to the latest version and try again";
export const applyConflict = (message: string, causes: StatusCause[]): ApiError =>
  failure(409, "Conflict", message, { causes });
export const expired = (message: string): ApiError => failure(410, "Expired", message);
export const tooLarge = (message: string): ApiError => failure(413, "RequestEntityTooLarge", message);
export const unsupportedMediaType = (message: string): ApiError => failure(415, "UnsupportedMediaType", message);
export const tooManyRequests = (message: string, retryAfterSeconds = 1): ApiError =>
  failure(429, "TooManyRequests", message, { retryAfterSeconds });
export const internalError = (message: string): ApiError =>
  failure(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
/** Clients retry, many times, when the response has a Retry-After; 0 omits it. */
export const unavailable = (message: string, retryAfterSeconds = 1): ApiError =>
  failure(503, "ServiceUnavailable", message, retryAfterSeconds > 0 ? { retryAfterSeconds } : undefined);
export const timedOut = (message: string): ApiError => failure(504, "Timeout", message);
/** The server stores no more until something is deleted. */
export const insufficientStorage = (message: string): ApiError => failure(507, "InsufficientStorage", message);
/** For Kubernetes features that Flotilla does not serve yet: rejected explicitly, never ignored. */
export const notImplemented = (what: string): ApiError =>
  failure(501, "NotImplemented", `Flotilla does not support ${what} yet`);

/**
 * A webhook's denial: the code is the webhook's, and there are a reason and details only when the webhook returned
 * them.
 */
export function deniedByWebhook(
  webhook: string,
  code: number,
  message: string,
  reason?: string,
  details?: Status["details"],
): ApiError {
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `admission webhook ${JSON.stringify(webhook)} denied the request: ${message}`,
    reason,
    details,
    code,
  });
}

/** A hostile body may have tens of thousands of errors, and each is reported twice. */
const MAX_REPORTED_ERRORS = 100;

/** The deduplicated errors as text: a single one plain, several in brackets. */
export function fieldErrorText(found: readonly FieldError[]): string {
  const texts = [...new Set(found.slice(0, MAX_REPORTED_ERRORS).map(({ field, message }) => `${field}: ${message}`))];
  if (found.length > MAX_REPORTED_ERRORS) texts.push(`and ${found.length - MAX_REPORTED_ERRORS} more`);
  return texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
}

/** 422 with all errors of one object. */
export function invalid(group: string, kind: string, name: string, found: readonly FieldError[]): ApiError {
  const errors = found.length > MAX_REPORTED_ERRORS ? found.slice(0, MAX_REPORTED_ERRORS) : found;
  const list = fieldErrorText(found);
  return failure(422, "Invalid", `${group ? `${kind}.${group}` : kind} ${JSON.stringify(name)} is invalid: ${list}`, {
    name: name || undefined,
    group: group || undefined,
    kind: kind || undefined,
    causes: errors.map(({ type, field, message }) => ({
      reason: type === "Internal" ? "InternalError" : `FieldValue${type}`,
      message,
      field,
    })),
  });
}

const hasReason =
  (...reasons: string[]) =>
  (error: unknown): error is ApiError =>
    error instanceof ApiError && reasons.includes(error.status.reason ?? "");
export const isNotFound = hasReason("NotFound");
export const isAlreadyExists = hasReason("AlreadyExists");
export const isConflict = hasReason("Conflict");
/** By the code: proxies answer without a reason. */
export const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.status.code === 403;
/** The namespace is terminating and accepts no new objects. Wrapped errors count as well. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (error instanceof ApiError)
    return error.status.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") ?? false;
  return error instanceof FlotillaError && error.cause !== undefined && isNamespaceTerminating(error.cause);
}
const ANSWERED_ELSEWHERE = "AggregatedAPIServer";
/** A request that cannot be part of a dry run of several, because another server answers for its kind. */
export const answeredElsewhere = (message: string): ApiError =>
  failure(400, "BadRequest", message, { causes: [{ reason: ANSWERED_ELSEWHERE, message }] });
export const isAnsweredElsewhere = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status.details?.causes?.some(({ reason }) => reason === ANSWERED_ELSEWHERE) ?? false);
export const isExpired = hasReason("Expired", "Gone");
export const isInvalid = hasReason("Invalid");
