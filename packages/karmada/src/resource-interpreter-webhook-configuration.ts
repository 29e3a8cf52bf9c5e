/** ResourceInterpreterWebhookConfiguration: webhooks that interpret a kind. */
import type { Admission, AnyAdmission } from "@flotilla/apimachinery";
import { customKind } from "@flotilla/apimachinery";
import type { ResourceInterpreterWebhookConfiguration as ResourceInterpreterWebhookConfigurationFacts } from "@flotilla/apimachinery/facts/config-karmada-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { checkInterpreterWebhooks } from "./interpreter-webhook-rules.ts";

export type ResourceInterpreterWebhookConfiguration = ResourceInterpreterWebhookConfigurationFacts;

export const ResourceInterpreterWebhookConfiguration: Kind<ResourceInterpreterWebhookConfiguration> =
  customKind<ResourceInterpreterWebhookConfiguration>({
    group: "config.karmada.io",
    storageVersion: "v1alpha1",
    kind: "ResourceInterpreterWebhookConfiguration",
    plural: "resourceinterpreterwebhookconfigurations",
    categories: ["karmada-io"],
    scope: "Cluster",
    facts: "resourceinterpreterwebhookconfigurations.config.karmada.io",
    columns: [],
  });

export const admissions: AnyAdmission[] = [
  {
    for: ResourceInterpreterWebhookConfiguration,
    on: ["CREATE", "UPDATE"],
    validate: ({ object }) => checkInterpreterWebhooks(object.webhooks),
  } satisfies Admission<ResourceInterpreterWebhookConfiguration>,
];
