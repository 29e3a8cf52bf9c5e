/**
 * Failures as the Kubernetes API words them: a `Status` with a reason that clients switch on and a message that people
 * read.
 *
 * `ApiError` carries one. The API server throws it, both transports deliver it, controllers ask `isNotFound(error)`.
 */
import { FlotillaError } from "../base/index.ts";

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

export class ApiError extends FlotillaError {
  readonly status: Status;
  constructor(status: Status, options?: ErrorOptions) {
    super(status.reason ?? "Unknown", status.message ?? `the server answered ${status.code}`, options);
    this.status = status;
  }
}

/** What a failure is about: the plural resource in its group. */
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
    ...(details && { details }),
    code,
  });
}
const about = ({ group, resource }: ResourceName, name?: string): Status["details"] => ({
  ...(name && { name }),
  ...(group && { group }),
  kind: resource,
});
/** `deployments.apps`, as messages name a resource. */
export const qualified = ({ group, resource }: ResourceName): string => (group ? `${resource}.${group}` : resource);

export const badRequest = (message: string): ApiError => failure(400, "BadRequest", message);
/** Most of the time it says no more: `why` is for what its owner can see of the credentials anyway. */
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
/** The same for an object that has a `generateName`, also when it came with a name. */
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
export const CHANGED_MEANWHILE =
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
/** Clients ask again, many times, when they are told after how long; with 0 they are not told. */
export const unavailable = (message: string, retryAfterSeconds = 1): ApiError =>
  failure(503, "ServiceUnavailable", message, retryAfterSeconds > 0 ? { retryAfterSeconds } : undefined);
export const timedOut = (message: string): ApiError => failure(504, "Timeout", message);
/** For what Kubernetes has and Flotilla does not serve yet: said, never silent. */
export const notImplemented = (what: string): ApiError =>
  failure(501, "NotImplemented", `Flotilla does not support ${what} yet`);

/**
 * A webhook's "no", as a server passes it on: the code is the webhook's, and there are a reason and details only when
 * the webhook gave them.
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
    ...(reason !== undefined && { reason }),
    ...(details && { details }),
    code,
  });
}

/** What is wrong with one field, as Kubernetes words it. */
export interface FieldError {
  type:
    | "Required"
    | "Invalid"
    | "NotSupported"
    | "Duplicate"
    | "Forbidden"
    | "TooLong"
    | "TooMany"
    | "NotFound"
    | "TypeInvalid"
    | "Internal";
  /** `spec.template.spec.containers[0].image` */
  field: string;
  /**
   * What follows the field in the message: `Required value`, `Invalid value: -1: must be greater than or equal to 0`.
   */
  message: string;
}

/** A hostile body makes hundreds of thousands of mistakes, and each is told twice. */
const MAX_TOLD_ERRORS = 1000;

/** Errors together, each once: one as it is, several in brackets. */
export function fieldErrorText(found: readonly FieldError[]): string {
  const texts = [...new Set(found.slice(0, MAX_TOLD_ERRORS).map(({ field, message }) => `${field}: ${message}`))];
  if (found.length > MAX_TOLD_ERRORS) texts.push(`and ${found.length - MAX_TOLD_ERRORS} more`);
  return texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
}

/** 422 with the errors of one object together. */
export function invalid(group: string, kind: string, name: string, found: readonly FieldError[]): ApiError {
  const errors = found.length > MAX_TOLD_ERRORS ? found.slice(0, MAX_TOLD_ERRORS) : found;
  const list = fieldErrorText(found);
  return failure(422, "Invalid", `${group ? `${kind}.${group}` : kind} ${JSON.stringify(name)} is invalid: ${list}`, {
    ...(name && { name }),
    ...(group && { group }),
    ...(kind && { kind }),
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
/** Nothing can be made in the namespace any more. Errors that were passed on with another around them count as well. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (error instanceof ApiError)
    return error.status.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") ?? false;
  return error instanceof FlotillaError && error.cause !== undefined && isNamespaceTerminating(error.cause);
}
export const isExpired = hasReason("Expired", "Gone");
export const isInvalid = hasReason("Invalid");
