/** MutatingWebhookConfiguration: webhooks that may change what is written. */
import { ageColumn, builtInKind, column, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { MutatingWebhookConfiguration as MutatingWebhookConfigurationFacts } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";

export type MutatingWebhookConfiguration = MutatingWebhookConfigurationFacts;

export const MutatingWebhookConfiguration: Kind<MutatingWebhookConfiguration> =
  builtInKind<MutatingWebhookConfiguration>({
    group: "admissionregistration.k8s.io",
    version: "v1",
    kind: "MutatingWebhookConfiguration",
    plural: "mutatingwebhookconfigurations",
    categories: ["api-extensions"],
    scope: "Cluster",
    facts: "admissionregistration-v1",
    columns: [
      nameColumn,
      column<MutatingWebhookConfiguration>("Webhooks", ({ webhooks = [] }) => webhooks.length, { type: "integer" }),
      ageColumn,
    ],
    hasGeneration: true,
    traits: { requiresVersion: true, plainFinalizers: true, metadataChecks: { create: true } },
  });
