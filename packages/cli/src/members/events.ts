/** Reads the events of an object, from the hub and from members. */
import type { JsonObject } from "@flotilla/base";
import type { Asking } from "./ask.ts";
import type { Place } from "./members-places.ts";
import { objectsIn, readList } from "./read-objects.ts";
import type { ServedType } from "./served-types.ts";
import { textOf, objectOf } from "@flotilla/base";

export interface SeenEvent {
  cluster: string;
  /** When it was last observed, RFC 3339. */
  at: string;
  type: string;
  reason: string;
  object: string;
  message: string;
  count: number;
}

const EVENTS: ServedType = {
  group: "",
  version: "v1",
  kind: "Event",
  plural: "events",
  scope: "Namespaced",
  singular: "event",
  shortNames: ["ev"],
  categories: [],
  verbs: ["list"],
};
/** Per object and cluster. */
const MAX_EVENTS = 1_000;

export async function readEvents(
  asking: Asking,
  place: Place,
  about: { kind: string; namespace?: string | undefined; name?: string; type?: "Warning" },
): Promise<SeenEvent[]> {
  const fields = { "involvedObject.kind": about.kind, "involvedObject.name": about.name, type: about.type };
  const selection = {
    namespace: about.namespace,
    fieldSelector: Object.entries(fields)
      .flatMap(([field, value]) => (value === undefined ? [] : [`${field}=${value}`]))
      .join(","),
    accept: "application/json",
  };
  return objectsIn(await readList(asking, place, EVENTS, selection, { left: MAX_EVENTS })).map((event) =>
    seenEvent(place.name, event),
  );
}

/** Oldest first; of many, only the newest. */
export function newestEvents(events: readonly SeenEvent[], most: number): SeenEvent[] {
  return events.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)).slice(-most);
}

function seenEvent(cluster: string, event: JsonObject): SeenEvent {
  const { involvedObject: involved, series, metadata, count } = event;
  const about = objectOf(involved);
  const of = objectOf(series);
  const times = [
    of["lastObservedTime"],
    event["lastTimestamp"],
    event["eventTime"],
    event["firstTimestamp"],
    objectOf(metadata)["creationTimestamp"],
  ];
  const repeated = typeof of["count"] === "number" ? of["count"] : count;
  return {
    cluster,
    at: times.map(textOf).find((text) => text !== "") ?? "",
    type: textOf(event["type"]),
    reason: textOf(event["reason"]),
    object: `${textOf(about["kind"]).toLowerCase()}/${textOf(about["name"])}`,
    message: textOf(event["message"]).trim(),
    count: typeof repeated === "number" && repeated > 0 ? repeated : 1,
  };
}
