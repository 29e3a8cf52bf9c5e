/** Defaults and validation of Event. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { builtInAdmission } from "@flotilla/apimachinery";
import { checkEvent } from "./event-validation.ts";
import { Event } from "./event-kind.ts";

export const rules: AnyAdmission[] = [
  builtInAdmission(Event, "core-v1", { validate: ({ object }) => checkEvent(object, "reportingComponent") }),
];
