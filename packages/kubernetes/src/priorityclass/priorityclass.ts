import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { PriorityClass } from "./priorityclass-kind.ts";
import { rules } from "./priorityclass-rules.ts";

export const priorityClass = defineKind({
  kind: PriorityClass,
  rules,
  example: exampleOf(PriorityClass, { value: 1 }),
});
