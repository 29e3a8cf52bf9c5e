import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { serviceAccountInterpreter } from "./serviceaccount-interpreter.ts";
import { ServiceAccount } from "./serviceaccount-kind.ts";
import { rules } from "./serviceaccount-rules.ts";

export const serviceAccount = defineKind({
  kind: ServiceAccount,
  rules,
  interpreter: serviceAccountInterpreter,
  example: exampleOf(ServiceAccount),
});
