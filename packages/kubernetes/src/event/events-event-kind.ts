/**
 * Event of `events.k8s.io`: the same objects as the Events of the core group, in the form that newer recorders write.
 * They are stored once, in the core form; both conversions are lossless.
 */
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { Event as CoreEvent, eventColumns, referenceFields } from "./event-kind.ts";
import { builtInVersion } from "@flotilla/apimachinery";
import type { Event as EventFacts } from "@flotilla/apimachinery/facts/events-v1.ts";
import type { Kind } from "@flotilla/apimachinery";

export type EventsEvent = EventFacts;

/** The field name here and in the core group, where they differ. */
const RENAMED = [
  ["reportingController", "reportingComponent"],
  ["regarding", "involvedObject"],
  ["note", "message"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
] as const;
const TO_CORE: ReadonlyMap<string, string> = new Map(RENAMED);
const FROM_CORE: ReadonlyMap<string, string> = new Map(RENAMED.map(([here, there]) => [there, here]));

function rename(object: DeepReadonly<JsonObject>, names: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(Object.entries(object as JsonObject).map(([key, value]) => [names.get(key) ?? key, value]));
}

/** The core group writes an empty reporter, which this group omits. */
const EMPTY_REPORTER = { reportingComponent: "", reportingInstance: "" };

export function toCore(event: DeepReadonly<EventsEvent>): DeepReadonly<CoreEvent> {
  return {
    ...EMPTY_REPORTER,
    involvedObject: {},
    source: {},
    ...rename({ ...event }, TO_CORE),
    apiVersion: "v1",
  } as unknown as CoreEvent;
}

function fromCore(stored: JsonObject): JsonObject {
  const event = rename(stored, FROM_CORE);
  for (const key of ["reportingController", "reportingInstance"]) if (event[key] === "") delete event[key];
  return event;
}

export const EventsEvent: Kind<EventsEvent> = {
  group: "events.k8s.io",
  kind: "Event",
  plural: "events",
  shortNames: ["ev"],
  scope: "Namespaced",
  storageVersion: "v1",
  storedAs: CoreEvent,
  versions: {
    v1: builtInVersion(
      eventColumns.map((column) => ({
        ...column,
        value: (event, nowMs) => column.value?.(rename(event, TO_CORE), nowMs) ?? null,
      })),
      "events-v1",
      "Event",
      { toStorage: (event) => toCore(event as unknown as EventsEvent) as unknown as JsonObject, fromStorage: fromCore },
    ),
  },
  subresources: {},
  builtIn: true,
  hasGeneration: false,
  traits: {
    untrackedByControllers: "others",
    createOnUpdate: true,
    selectableFields: {
      ...referenceFields("regarding"),
      reason: ({ reason }) => (typeof reason === "string" ? reason : ""),
      reportingController: ({ reportingController }) =>
        typeof reportingController === "string" ? reportingController : "",
      type: ({ type }) => (typeof type === "string" ? type : ""),
    },
  },
};
