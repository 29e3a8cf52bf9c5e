import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { ValidatingWebhookConfiguration } from "./validating-webhook-configuration-kind.ts";

export const validatingWebhookConfiguration = defineKind({
  kind: ValidatingWebhookConfiguration,
  example: exampleOf(ValidatingWebhookConfiguration, { webhooks: [] }),
});
