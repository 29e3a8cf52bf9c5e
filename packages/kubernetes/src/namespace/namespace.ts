import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { Namespace } from "./namespace-kind.ts";
import { rules } from "./namespace-rules.ts";

export const namespace = defineKind({
  kind: Namespace,
  rules,
  example: exampleOf(Namespace),
});
