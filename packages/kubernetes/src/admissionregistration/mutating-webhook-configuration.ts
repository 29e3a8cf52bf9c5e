import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { MutatingWebhookConfiguration } from "./mutating-webhook-configuration-kind.ts";

export const mutatingWebhookConfiguration = defineKind({
  kind: MutatingWebhookConfiguration,
  example: exampleOf(MutatingWebhookConfiguration, { webhooks: [] }),
});
