/** ResourceClaimTemplate: the claim that is created for each pod that references it. */
import { ageColumn, builtInKind, lazyAdmission, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ResourceClaimTemplate as ResourceClaimTemplateFacts } from "@flotilla/apimachinery/facts/resource-v1.ts";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type ResourceClaimTemplate = ResourceClaimTemplateFacts;

export const ResourceClaimTemplate: Kind<ResourceClaimTemplate> = builtInKind<ResourceClaimTemplate>({
  group: "resource.k8s.io",
  version: "v1",
  kind: "ResourceClaimTemplate",
  plural: "resourceclaimtemplates",
  scope: "Namespaced",
  facts: "resource-v1",
  columns: [nameColumn, ageColumn],
  traits: { deletionReturnsObject: true, metadataChecks: { update: true, create: true } },
});

export const resourceClaimTemplate = defineKind({
  kind: ResourceClaimTemplate,
  rules: [
    lazyAdmission(
      ResourceClaimTemplate,
      "resource-v1",
      async () => (await import("./device-rules.ts")).resourceClaimTemplateRules,
    ),
  ],
  example: exampleOf(ResourceClaimTemplate, {
    spec: { spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu" } }] } } },
  }),
});
