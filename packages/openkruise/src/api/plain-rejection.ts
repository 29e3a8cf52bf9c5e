/** Rejections of webhooks that report a sentence instead of errors of fields. */
import { deniedByWebhook } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { FeatureGates } from "./feature-gates.ts";

/** Rejects the object with its first problem. Returns no errors of fields when it has none. */
export function denies(webhook: string, problems: Iterable<string>): FieldError[] {
  for (const problem of problems) throw deniedByWebhook(webhook, 400, problem);
  return [];
}

/** Rejects an object of a feature that the member has not enabled. */
export function requireGate(webhook: string, gates: FeatureGates, gate: Parameters<FeatureGates["isOn"]>[0]): void {
  if (!gates.isOn(gate)) throw deniedByWebhook(webhook, 403, `feature-gate ${gate} is not enabled`);
}
