/** ResourceClaimTemplate: the claim that is created for each pod that references it. */
import {
  ageColumn,
  annotationKeyProblems,
  builtInAdmission,
  builtInKind,
  change,
  checkLabels,
  checkText,
  checkUnchanged,
  nameColumn,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Kind, Review, Sent } from "@flotilla/apimachinery";
import type {
  ResourceClaimTemplate as ResourceClaimTemplateFacts,
  ResourceClaimTemplateSpec,
} from "@flotilla/apimachinery/facts/resource-v1.ts";
import { checkClaimSpec, completeClaimSpec } from "./claim-spec.ts";
import { forbiddenMetadata } from "../definition/template-metadata.ts";
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

/** Claims take labels and annotations from the template; other metadata cannot be set. */
function checkTemplateMetadata(
  at: string,
  metadata: Sent<NonNullable<ResourceClaimTemplateSpec["metadata"]>>,
): FieldError[] {
  return [
    ...Object.keys(metadata.annotations ?? {}).flatMap((key) =>
      checkText(`${at}.annotations`, key, annotationKeyProblems),
    ),
    ...checkLabels(`${at}.labels`, metadata.labels),
    ...forbiddenMetadata(at, metadata),
  ];
}

function checkTemplate({ object, oldObject }: Review<ResourceClaimTemplate>): FieldError[] {
  const { metadata = {}, spec = {} } = (object as Sent<ResourceClaimTemplate>).spec ?? {};
  const errors = [...checkTemplateMetadata("spec.metadata", metadata), ...checkClaimSpec("spec.spec", spec)];
  return oldObject ? [...errors, ...checkUnchanged("spec", object.spec, oldObject.spec)] : errors;
}

export const rules: AnyAdmission[] = [
  builtInAdmission(ResourceClaimTemplate, "resource-v1", {
    complete: (template) => change(template, "spec", (spec) => change(spec, "spec", completeClaimSpec)),
    validate: checkTemplate,
  }),
];

export const resourceClaimTemplate = defineKind({
  kind: ResourceClaimTemplate,
  rules,
  example: exampleOf(ResourceClaimTemplate, {
    spec: { spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu" } }] } } },
  }),
});
