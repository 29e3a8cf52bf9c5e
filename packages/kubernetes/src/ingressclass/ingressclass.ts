import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { IngressClass } from "./ingressclass-kind.ts";
import { rules } from "./ingressclass-rules.ts";

export const ingressClass = defineKind({
  kind: IngressClass,
  rules,
  example: exampleOf(IngressClass, { spec: { controller: "example.com/ingress" } }),
});
