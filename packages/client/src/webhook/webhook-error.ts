/**
 * Why a webhook returned no usable response. The message describes the error; the caller adds the operation and object.
 */
import { FlotillaError } from "@flotilla/base";

/**
 * - `configuration`: the webhook is misconfigured and cannot be called;
 * - `overload`: too many calls are waiting for it;
 * - `timeout`: no response within `timeoutSeconds`;
 * - `connection`: it is unreachable or not trusted, or the connection broke;
 * - `status`: it returned an unsuccessful HTTP status;
 * - `answer`: its response does not follow the protocol;
 * - `refused`: it reported that the operation failed.
 */
export const FAILURE_REASONS = [
  "configuration",
  "overload",
  "timeout",
  "connection",
  "status",
  "answer",
  "refused",
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

export class WebhookError extends FlotillaError {
  readonly reason: FailureReason;
  /** Whether a retry may succeed a moment later. */
  readonly isPassing: boolean;
  /** With reason `status`. */
  readonly httpStatus: number | undefined;

  constructor(
    reason: FailureReason,
    message: string,
    { isPassing = false, httpStatus, ...options }: ErrorOptions & { isPassing?: boolean; httpStatus?: number } = {},
  ) {
    super("Webhook", message, options);
    this.reason = reason;
    this.isPassing = isPassing;
    this.httpStatus = httpStatus;
  }
}
