/**
 * Validates Events of both groups. The rules apply to the stored form; `events.k8s.io` is stricter and makes nearly all
 * fields of an Event immutable.
 */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { checkText, field, labelKeyProblems } from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type { Event, EventSource, ObjectReference } from "@flotilla/apimachinery/facts/core-v1.ts";

/** Not validated yet: any field may be missing. */
type StoredEvent = Sent<Event>;

const MAX_TEXT = 128;
const MAX_MESSAGE = 1024;

function checkLength(path: string, text: string, limit: number): FieldError[] {
  // The value is not printed: the message of an Event may be long.
  return Buffer.byteLength(text) > limit ? [field.invalid(path, "", `can have at most ${limit} characters`)] : [];
}

function checkNeeded(path: string, text: string): FieldError[] {
  return [...(text === "" ? [field.required(path)] : []), ...checkLength(path, text, MAX_TEXT)];
}

/**
 * Events with an `eventTime` use the new API and must be complete; the others must only be in the namespace of their
 * object.
 */
export function checkEvent(
  event: StoredEvent,
  controllerField: "reportingComponent" | "reportingController",
): FieldError[] {
  const {
    metadata = {},
    involvedObject = {},
    eventTime,
    reportingComponent = "",
    reportingInstance = "",
    action = "",
    reason = "",
    message = "",
  } = event;
  const { namespace = "" } = metadata;
  const { namespace: involved = "" } = involvedObject;
  const elsewhere = [field.invalid("involvedObject.namespace", involved, "does not match event.namespace")];
  if (!eventTime) {
    // Events of cluster-scoped objects are in the default namespace.
    return involved === namespace || (involved === "" && namespace === "default") ? [] : elsewhere;
  }
  return [
    ...(involved === "" && namespace !== "default" && namespace !== "kube-system" ? elsewhere : []),
    ...(reportingComponent === "" ? [field.required(controllerField)] : []),
    ...checkText(controllerField, reportingComponent, labelKeyProblems),
    ...checkNeeded("reportingInstance", reportingInstance),
    ...checkNeeded("action", action),
    ...checkNeeded("reason", reason),
    ...checkLength("message", message, MAX_MESSAGE),
  ];
}

function checkSeries({ series }: StoredEvent): FieldError[] {
  if (!series) return [];
  return [
    ...((series.count ?? 0) < 2 ? [field.invalid("series.count", "", "should be at least 2")] : []),
    ...(series.lastObservedTime ? [] : [field.required("series.lastObservedTime")]),
  ];
}

/** Additional rules of `events.k8s.io` for a new Event. */
export function checkNewEvent(event: StoredEvent): FieldError[] {
  const { eventTime, type = "", firstTimestamp, lastTimestamp, count, source = {} } = event;
  const unset = (path: string, isSet: unknown): FieldError[] =>
    isSet ? [field.invalid(path, "", "needs to be unset")] : [];
  return [
    ...checkSeries(event),
    ...(eventTime ? [] : [field.required("eventTime")]),
    ...(type === "Normal" || type === "Warning" ? [] : [field.invalid("type", "", `has invalid value: ${type}`)]),
    ...unset("firstTimestamp", firstTimestamp),
    ...unset("lastTimestamp", lastTimestamp),
    ...unset("count", count),
    ...unset("source", source.component || source.host),
  ];
}

/** Fields that are immutable in `events.k8s.io`. */
export function checkEventUpdate(event: StoredEvent, old: StoredEvent): FieldError[] {
  const fixed = (path: string, now: unknown, before: unknown): FieldError[] =>
    equalJson(now, before) ? [] : [field.invalid(path, now, "field is immutable")];
  const text = (path: keyof Event): FieldError[] => fixed(path, event[path] ?? "", old[path] ?? "");
  const time = (path: keyof Event): FieldError[] => fixed(path, event[path] ?? null, old[path] ?? null);
  return [
    ...(equalJson(event.series, old.series) ? [] : checkSeries(event)),
    ...fixed("involvedObject", shownReference(event.involvedObject), shownReference(old.involvedObject)),
    ...text("reason"),
    ...text("message"),
    ...fixed("source", shownSource(event.source), shownSource(old.source)),
    ...time("firstTimestamp"),
    ...time("lastTimestamp"),
    ...fixed("count", event.count ?? 0, old.count ?? 0),
    ...text("reason"),
    ...text("type"),
    ...time("eventTime"),
    ...text("action"),
    ...fixed(
      "related",
      event.related ? shownReference(event.related) : null,
      old.related ? shownReference(old.related) : null,
    ),
    ...fixed("reportingController", event.reportingComponent ?? "", old.reportingComponent ?? ""),
    ...text("reportingInstance"),
  ];
}

/** Messages print these as the real server's Go types, which have no JSON names. */
function shownReference(reference: DeepReadonly<ObjectReference> = {}): unknown {
  const {
    kind = "",
    namespace = "",
    name = "",
    uid = "",
    apiVersion = "",
    resourceVersion = "",
    fieldPath = "",
  } = reference;
  return {
    Kind: kind,
    Namespace: namespace,
    Name: name,
    UID: uid,
    APIVersion: apiVersion,
    ResourceVersion: resourceVersion,
    FieldPath: fieldPath,
  };
}

function shownSource({ component = "", host = "" }: DeepReadonly<EventSource> = {}): unknown {
  return { Component: component, Host: host };
}
