import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { ComponentStatus } from "./component-status-kind.ts";

export const componentStatus = defineKind({
  kind: ComponentStatus,
  example: exampleOf(ComponentStatus, {}),
});
