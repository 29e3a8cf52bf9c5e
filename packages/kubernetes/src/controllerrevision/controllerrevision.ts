import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { ControllerRevision } from "./controllerrevision-kind.ts";
import { rules } from "./controllerrevision-rules.ts";

export const controllerRevision = defineKind({
  kind: ControllerRevision,
  rules,
  example: exampleOf(ControllerRevision, { data: {}, revision: 1 }),
});
