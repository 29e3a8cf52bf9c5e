/**
 * Why a webhook returned no usable response. The message describes the error; the caller adds the operation and object.
 */
import { InterpretError } from "@flotilla/kubernetes";

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

export class WebhookError extends InterpretError {
  readonly reason: FailureReason;
  /** Whether a retry may succeed a moment later. */
  readonly isPassing: boolean;

  constructor(
    reason: FailureReason,
    message: string,
    { isPassing = false, ...options }: ErrorOptions & { isPassing?: boolean } = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.isPassing = isPassing;
  }

  /** The same failure, prefixed with the operation. */
  during(doing: string): WebhookError {
    return new WebhookError(this.reason, `${doing}: ${this.message}`, { isPassing: this.isPassing, cause: this.cause });
  }
}
