/** MutatingWebhookConfiguration: webhooks that may change what is written. */
import { builtInAdmission, change } from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { MutatingWebhookConfiguration } from "./mutating-webhook-configuration-kind.ts";
import { nameWarnings } from "./static-names.ts";
import { checkWebhooks, completeMutatingWebhooks } from "./webhook-rules.ts";

export const rules: AnyAdmission[] = [
  builtInAdmission(MutatingWebhookConfiguration, "admissionregistration-v1", {
    complete: (configuration) => change(configuration, "webhooks", completeMutatingWebhooks),
    validate: ({ object, oldObject }) => checkWebhooks(object.webhooks, oldObject && (oldObject.webhooks ?? [])),
    warnings: ({ object }) => nameWarnings(object),
  }),
];

export const mutatingWebhookConfiguration = defineKind({
  kind: MutatingWebhookConfiguration,
  rules,
  example: exampleOf(MutatingWebhookConfiguration, { webhooks: [] }),
});
