import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { ResourceQuota } from "./resourcequota-kind.ts";
import { rules } from "./resourcequota-rules.ts";

export const resourceQuota = defineKind({
  kind: ResourceQuota,
  rules,
  example: exampleOf(ResourceQuota, { spec: { hard: { pods: "1" } } }),
});
