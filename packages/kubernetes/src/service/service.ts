import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { serviceInterpreter } from "./service-interpreter.ts";
import { Service } from "./service-kind.ts";
import { rules } from "./service-rules.ts";

export const service = defineKind({
  kind: Service,
  rules,
  interpreter: serviceInterpreter,
  example: exampleOf(Service, { spec: { ports: [{ port: 80 }] } }),
});
