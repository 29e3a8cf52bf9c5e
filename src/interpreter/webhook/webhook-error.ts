/**
 * Why a webhook gave no answer that can be used. The message says what was wrong; whoever asked adds what was asked.
 */
import { InterpretError } from "../interpret-error.ts";

/**
 * - `configuration`: the webhook cannot be called as it is configured;
 * - `overload`: too many calls wait for it;
 * - `timeout`: no answer within `timeoutSeconds`;
 * - `connection`: it could not be reached or trusted, or the connection broke;
 * - `status`: it answered with an HTTP status that is no success;
 * - `answer`: what it answered is not what the protocol asks for;
 * - `refused`: it answered that it could not do it.
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
  /** Whether the same question may get an answer a moment later. */
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

  /** The same failure, told with what was being done. */
  during(doing: string): WebhookError {
    return new WebhookError(this.reason, `${doing}: ${this.message}`, { isPassing: this.isPassing, cause: this.cause });
  }
}
