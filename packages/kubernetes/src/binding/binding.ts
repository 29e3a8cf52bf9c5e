import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { Binding } from "./binding-kind.ts";

export const binding = defineKind({
  kind: Binding,
  example: exampleOf(Binding, { target: { name: "node-1" } }),
});
