import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { LimitRange } from "./limitrange-kind.ts";
import { rules } from "./limitrange-rules.ts";

export const limitRange = defineKind({
  kind: LimitRange,
  rules,
  example: exampleOf(LimitRange, { spec: { limits: [{ type: "Container", default: { cpu: "1" } }] } }),
});
