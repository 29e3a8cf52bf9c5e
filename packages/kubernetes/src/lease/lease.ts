import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { Lease } from "./lease-kind.ts";
import { rules } from "./lease-rules.ts";

export const lease = defineKind({
  kind: Lease,
  rules,
  example: exampleOf(Lease),
});
