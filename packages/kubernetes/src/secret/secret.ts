import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { secretInterpreter } from "./secret-interpreter.ts";
import { Secret } from "./secret-kind.ts";
import { rules } from "./secret-rules.ts";

export const secret = defineKind({
  kind: Secret,
  rules,
  interpreter: secretInterpreter,
  example: exampleOf(Secret),
});
