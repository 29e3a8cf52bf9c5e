import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";
import { EventsEvent } from "./events-event-kind.ts";
import { rules } from "./events-event-rules.ts";

export const eventsEvent = defineKind({
  kind: EventsEvent,
  rules,
  example: exampleOf(EventsEvent, {
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingController: "example.com/c",
    reportingInstance: "c-1",
    action: "Start",
    reason: "Started",
    type: "Normal",
    regarding: { namespace: "shop" },
  }),
});
