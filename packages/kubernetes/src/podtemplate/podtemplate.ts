import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { exampleTemplate } from "../pod/pod-example.ts";
import { PodTemplate } from "./podtemplate-kind.ts";
import { rules } from "./podtemplate-rules.ts";

export const podTemplate = defineKind({
  kind: PodTemplate,
  rules,
  example: exampleOf(PodTemplate, { template: exampleTemplate }),
});
