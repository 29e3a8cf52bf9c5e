import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { ingressInterpreter } from "./ingress-interpreter.ts";
import { Ingress } from "./ingress-kind.ts";
import { rules } from "./ingress-rules.ts";

export const ingress = defineKind({
  kind: Ingress,
  rules,
  interpreter: ingressInterpreter,
  example: exampleOf(Ingress, { spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } } }),
});
