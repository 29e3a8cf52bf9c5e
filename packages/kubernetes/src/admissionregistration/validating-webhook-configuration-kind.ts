/** ValidatingWebhookConfiguration: webhooks that decide whether a write is allowed. */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ValidatingWebhookConfiguration as ValidatingWebhookConfigurationFacts } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";

export type ValidatingWebhookConfiguration = ValidatingWebhookConfigurationFacts;

export const ValidatingWebhookConfiguration: Kind<ValidatingWebhookConfiguration> =
  builtInKind<ValidatingWebhookConfiguration>({
    group: "admissionregistration.k8s.io",
    version: "v1",
    kind: "ValidatingWebhookConfiguration",
    plural: "validatingwebhookconfigurations",
    categories: ["api-extensions"],
    scope: "Cluster",
    facts: "admissionregistration-v1",
    columns: [
      nameColumn,
      column<ValidatingWebhookConfiguration>("Webhooks", ({ webhooks = [] }) => webhooks.length, { type: "integer" }),
      ageColumn,
    ],
    hasGeneration: true,
    traits: { requiresVersion: true, plainFinalizers: true, metadataChecks: { create: true } },
  });
