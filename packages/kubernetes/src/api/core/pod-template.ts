/** PodTemplate: a standalone pod template for other objects to use. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { column, labelsCell, nameColumn } from "@flotilla/apimachinery";
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type { PodTemplate as PodTemplateFacts } from "@flotilla/apimachinery/facts/core-v1.ts";
import { equalJson } from "@flotilla/base";
import type { FieldError } from "@flotilla/apimachinery";
import { change } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { defaultPodTemplate } from "./pod-defaults.ts";
import { checkTemplate } from "./pod-validation.ts";
import { templateWarnings } from "./pod-warnings.ts";

export type PodTemplate = PodTemplateFacts;

export const PodTemplate: Kind<PodTemplate> = builtInKind<PodTemplate>({
  group: "",
  version: "v1",
  kind: "PodTemplate",
  plural: "podtemplates",
  scope: "Namespaced",
  facts: "core-v1",
  columns: [
    nameColumn,
    column<PodTemplate>("Containers", ({ template }) =>
      (template?.spec?.containers ?? []).map(({ name }) => name).join(","),
    ),
    column<PodTemplate>("Images", ({ template }) =>
      (template?.spec?.containers ?? []).map(({ image = "" }) => image).join(","),
    ),
    column<PodTemplate>("Pod Labels", ({ template }) => labelsCell(template?.metadata?.labels)),
  ],
  hasGeneration: true,
  traits: { deletionReturnsObject: true },
});

export const admissions: AnyAdmission[] = [
  builtInAdmission(PodTemplate, "core-v1", {
    complete: (object) => change(object, "template", (template) => defaultPodTemplate(template)),
    validate({ object: { template = {} }, settled }) {
      const errors: FieldError[] = [];
      if (!settled || settled.template !== template) checkTemplate(errors, "template", template);
      return errors;
    },
    warnings: ({ object: { template = {} }, oldObject }) =>
      oldObject && equalJson(template, oldObject.template) ? [] : templateWarnings("template", template),
  }),
];
