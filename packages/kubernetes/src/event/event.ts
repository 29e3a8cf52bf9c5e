import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { Event } from "./event-kind.ts";
import { rules } from "./event-rules.ts";

export const event = defineKind({
  kind: Event,
  rules,
  example: exampleOf(Event, { involvedObject: { namespace: "shop" } }),
});
