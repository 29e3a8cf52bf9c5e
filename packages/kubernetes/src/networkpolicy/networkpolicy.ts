import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { NetworkPolicy } from "./networkpolicy-kind.ts";
import { rules } from "./networkpolicy-rules.ts";

export const networkPolicy = defineKind({
  kind: NetworkPolicy,
  rules,
  example: exampleOf(NetworkPolicy, { spec: { podSelector: {} } }),
});
