/** ResourceInterpreterWebhookConfiguration: webhooks that interpret a kind. */
import { customKind } from "@flotilla/apimachinery";
import type { ResourceInterpreterWebhookConfiguration as ResourceInterpreterWebhookConfigurationFacts } from "@flotilla/apimachinery/facts/config-karmada-v1alpha1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { resourceInterpreterWebhookConfigurationDescriptions } from "./resourceinterpreterwebhookconfiguration-descriptions.ts";

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
    descriptions: resourceInterpreterWebhookConfigurationDescriptions,
  });
