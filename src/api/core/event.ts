/** Event: something that happened to an object, kept for a while. */
import type { DeepReadonly } from "../../base/index.ts";
import type { AnyAdmission } from "../admission.ts";
import { age, column, wide } from "../columns.ts";
import { builtInAdmission, builtInKind } from "../define.ts";
import type { Event as EventFacts } from "../facts/core-v1.ts";
import { wrong } from "../field-errors.ts";
import type { Kind } from "../kind.ts";

export type Event = EventFacts;

function lastSeen({ series, lastTimestamp, eventTime, firstTimestamp }: DeepReadonly<Event>, nowMs: number): string {
  return age(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp, nowMs);
}

function source({ source: from, reportingComponent, reportingInstance }: DeepReadonly<Event>): string {
  const parts = [from?.component || reportingComponent, from?.host || reportingInstance].filter(Boolean);
  return parts.join(", ");
}

export const Event: Kind<Event> = builtInKind<Event>({
  group: "",
  version: "v1",
  kind: "Event",
  plural: "events",
  shortNames: ["ev"],
  scope: "Namespaced",
  facts: "core-v1",
  columns: [
    column<Event>("Last Seen", lastSeen),
    column<Event>("Type", ({ type = "" }) => type),
    column<Event>("Reason", ({ reason = "" }) => reason),
    column<Event>("Object", ({ involvedObject: { kind = "", name = "" } }) => `${kind.toLowerCase()}/${name}`),
    column<Event>("Subobject", ({ involvedObject }) => involvedObject.fieldPath ?? "", wide),
    column<Event>("Source", source, wide),
    column<Event>("Message", ({ message = "" }) => message.trim()),
    column<Event>("First Seen", ({ firstTimestamp, eventTime }, nowMs) => age(firstTimestamp ?? eventTime, nowMs), wide),
    column<Event>("Count", ({ series, count }) => series?.count ?? (count || 1), wide),
    column<Event>("Name", ({ metadata }) => metadata.name, { format: "name", priority: 1 }),
  ],
});

export const admissions: AnyAdmission[] = [
  builtInAdmission(Event, "core-v1", {
    validate({ object }) {
      const { namespace } = object.involvedObject;
      // Events of cluster-scoped objects are kept in the default namespace.
      const matches = (namespace ?? "") === (object.metadata.namespace ?? "") || (namespace === undefined && object.metadata.namespace === "default");
      return matches ? [] : [wrong("involvedObject.namespace", namespace ?? "", "does not match event.namespace")];
    },
  }),
];
