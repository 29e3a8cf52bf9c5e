import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { RuntimeClass } from "./runtimeclass-kind.ts";
import { rules } from "./runtimeclass-rules.ts";

export const runtimeClass = defineKind({
  kind: RuntimeClass,
  rules,
  example: exampleOf(RuntimeClass, { handler: "runc" }),
});
