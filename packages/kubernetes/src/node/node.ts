import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { Node } from "./node-kind.ts";
import { rules } from "./node-rules.ts";

export const node = defineKind({
  kind: Node,
  rules,
  example: exampleOf(Node),
});
