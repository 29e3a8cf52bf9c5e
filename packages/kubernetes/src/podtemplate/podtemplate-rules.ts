/** Defaults and validation of PodTemplate. */
import { builtInAdmission, change } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import { defaultPodTemplate } from "../pod/pod-defaults.ts";
import { checkTemplate } from "../pod/pod-validation.ts";
import { templateWarnings } from "../pod/pod-warnings.ts";
import { PodTemplate } from "./podtemplate-kind.ts";

export const rules: AnyAdmission[] = [
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
