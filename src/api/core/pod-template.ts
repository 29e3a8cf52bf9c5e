/** PodTemplate: a standalone pod template for other objects to use. */
import type { AnyAdmission } from "../admission.ts";
import { column, labelsCell, nameColumn } from "../columns.ts";
import { builtInAdmission, builtInKind } from "../define.ts";
import type { PodTemplate as PodTemplateFacts } from "../facts/core-v1.ts";
import { equalJson } from "../../base/index.ts";
import type { FieldError } from "../../machinery/index.ts";
import { change } from "../fill.ts";
import type { Kind } from "../kind.ts";
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
