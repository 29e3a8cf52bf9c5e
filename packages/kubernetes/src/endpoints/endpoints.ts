import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { createEndpointsController } from "./endpoints-controller.ts";
import { Endpoints } from "./endpoints-kind.ts";
import { rules } from "./endpoints-rules.ts";

export const endpoints = defineKind({
  kind: Endpoints,
  rules,
  controllers: (deps) => [createEndpointsController(deps)],
  example: exampleOf(Endpoints),
});
