import { defineKind } from "@flotilla/kubernetes";
import { ResourceInterpreterWebhookConfiguration } from "./resourceinterpreterwebhookconfiguration-kind.ts";
import { resourceInterpreterWebhookConfigurationRules } from "./interpreter-webhook-rules.ts";

const example: ResourceInterpreterWebhookConfiguration = {
  apiVersion: "config.karmada.io/v1alpha1",
  kind: "ResourceInterpreterWebhookConfiguration",
  metadata: { name: "web" },
  webhooks: [
    {
      name: "workloads.example.com",
      clientConfig: { url: "https://interpreter.example.com" },
      interpreterContextVersions: ["v1alpha1"],
    },
  ],
};

export const resourceInterpreterWebhookConfiguration = defineKind({
  kind: ResourceInterpreterWebhookConfiguration,
  example,
  rules: resourceInterpreterWebhookConfigurationRules,
});
