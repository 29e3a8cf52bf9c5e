/** Defaults and validation of EventsEvent. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { checkEvent, checkEventUpdate, checkNewEvent } from "./event-validation.ts";
import { builtInAdmission } from "@flotilla/apimachinery";
import { EventsEvent, toCore } from "./events-event-kind.ts";

export const rules: AnyAdmission[] = [
  builtInAdmission(EventsEvent, "events-v1", {
    validate({ object, oldObject }) {
      const event = toCore(object);
      return [
        ...checkEvent(event, "reportingController"),
        ...(oldObject ? checkEventUpdate(event, toCore(oldObject)) : checkNewEvent(event)),
      ];
    },
  }),
];
