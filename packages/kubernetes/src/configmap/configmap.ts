import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { ConfigMap } from "./configmap-kind.ts";
import { rules } from "./configmap-rules.ts";

export const configMap = defineKind({
  kind: ConfigMap,
  rules,
  example: exampleOf(ConfigMap),
});
