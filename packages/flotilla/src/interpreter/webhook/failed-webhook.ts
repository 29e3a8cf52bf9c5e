/** A webhook of an interpreter gave no usable answer: the rule that it implements failed. */
import type { FailureReason, WebhookError } from "@flotilla/client";
import { InterpretError } from "@flotilla/kubernetes";

export class FailedWebhook extends InterpretError {
  readonly reason: FailureReason;

  /** `doing` names the webhook, the operation and the object. */
  constructor(doing: string, { reason, message, cause }: WebhookError) {
    super(`${doing}: ${message}`, { cause });
    this.reason = reason;
  }
}
