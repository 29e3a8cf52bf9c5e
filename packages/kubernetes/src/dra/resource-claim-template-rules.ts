/** ResourceClaimTemplate: defaults and validation, loaded when the first object is written. */
import {
  annotationKeyProblems,
  builtInAdmission,
  change,
  checkLabels,
  checkText,
  checkUnchanged,
} from "@flotilla/apimachinery";
import type { FieldError, Review, Sent } from "@flotilla/apimachinery";
import type { ResourceClaimTemplateSpec } from "@flotilla/apimachinery/facts/resource-v1.ts";
import { checkClaimSpec, completeClaimSpec } from "./claim-spec.ts";
import { forbiddenMetadata } from "../definition/template-metadata.ts";
import { ResourceClaimTemplate } from "./resource-claim-template.ts";

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

export const resourceClaimTemplateRules = builtInAdmission(ResourceClaimTemplate, "resource-v1", {
  complete: (template) => change(template, "spec", (spec) => change(spec, "spec", completeClaimSpec)),
  validate: checkTemplate,
});
