/** ValidatingWebhookConfiguration: webhooks that decide whether a write is allowed. */
import { builtInAdmission, change } from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { nameWarnings } from "./static-names.ts";
import { ValidatingWebhookConfiguration } from "./validating-webhook-configuration-kind.ts";
import { checkWebhooks, completeWebhooks } from "./webhook-rules.ts";

export const rules: AnyAdmission[] = [
  builtInAdmission(ValidatingWebhookConfiguration, "admissionregistration-v1", {
    complete: (configuration) => change(configuration, "webhooks", (webhooks) => completeWebhooks(webhooks)),
    validate: ({ object, oldObject }) => checkWebhooks(object.webhooks, oldObject && (oldObject.webhooks ?? [])),
    warnings: ({ object }) => nameWarnings(object),
  }),
];

export const validatingWebhookConfiguration = defineKind({
  kind: ValidatingWebhookConfiguration,
  rules,
  example: exampleOf(ValidatingWebhookConfiguration, { webhooks: [] }),
});
