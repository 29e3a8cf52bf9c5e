/**
 * Event: something that happened to an object, kept for a limited time. `events.k8s.io` serves the same objects in
 * another form.
 */
import { isObject, type DeepReadonly, type JsonObject } from "@flotilla/base";
import { age, builtInKind, column, wide } from "@flotilla/apimachinery";
import type { Column, Kind } from "@flotilla/apimachinery";
import type { Event as EventFacts } from "@flotilla/apimachinery/facts/core-v1.ts";

export type Event = EventFacts;

function firstSeen({ firstTimestamp, eventTime }: DeepReadonly<Event>, nowMs: number): string {
  return age(firstTimestamp ?? eventTime, nowMs);
}

function lastSeen(event: DeepReadonly<Event>, nowMs: number): string {
  const { series, lastTimestamp } = event;
  if (series) return age(series.lastObservedTime, nowMs);
  return lastTimestamp === undefined ? firstSeen(event, nowMs) : age(lastTimestamp, nowMs);
}

function source({ source: from, reportingComponent, reportingInstance }: DeepReadonly<Event>): string {
  return [from?.component || reportingComponent, from?.host || reportingInstance].filter(Boolean).join(", ");
}

function target({ involvedObject: { kind = "", name = "" } }: DeepReadonly<Event>): string {
  return name === "" ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`;
}

/** Columns of the stored form; the other group converts before printing. */
export const eventColumns: Column[] = [
  column<Event>("Last Seen", lastSeen),
  column<Event>("Type", ({ type = "" }) => type),
  column<Event>("Reason", ({ reason = "" }) => reason),
  column<Event>("Object", target),
  column<Event>("Subobject", ({ involvedObject }) => involvedObject.fieldPath ?? "", wide),
  column<Event>("Source", source, wide),
  column<Event>("Message", ({ message = "" }) => message.trim()),
  column<Event>("First Seen", firstSeen, wide),
  column<Event>("Count", ({ series, count }) => (series ? (series.count ?? 0) : count || 1), wide),
  column<Event>("Name", ({ metadata }) => metadata.name, { format: "name", priority: 1 }),
];

const textAt =
  (...path: string[]) =>
  (event: DeepReadonly<JsonObject>): string => {
    let value: unknown = event;
    for (const key of path) value = isObject(value) ? value[key] : undefined;
    return typeof value === "string" ? value : "";
  };

/** Field selectors for the object an Event is about, under the group's name for it. */
export function referenceFields(field: string): Record<string, (event: DeepReadonly<JsonObject>) => string> {
  return Object.fromEntries(
    ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map((key) => [
      `${field}.${key}`,
      textAt(field, key),
    ]),
  );
}

export const Event: Kind<Event> = builtInKind<Event>({
  group: "",
  version: "v1",
  kind: "Event",
  plural: "events",
  shortNames: ["ev"],
  scope: "Namespaced",
  facts: "core-v1",
  columns: eventColumns,
  traits: {
    untrackedByControllers: "others",
    names: "path",
    metadataChecks: {},
    plainFinalizers: true,
    createOnUpdate: true,
    selectableFields: {
      ...referenceFields("involvedObject"),
      reason: textAt("reason"),
      reportingComponent: textAt("reportingComponent"),
      source: (event) => textAt("source", "component")(event) || textAt("reportingComponent")(event),
      type: textAt("type"),
    },
  },
});
