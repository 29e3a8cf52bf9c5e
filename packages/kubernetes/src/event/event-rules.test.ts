import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { type Event } from "./event-kind.ts";
import { rules as coreAdmissions } from "./event-rules.ts";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { EventsEvent } from "./events-event-kind.ts";
import { rules } from "./events-event-rules.ts";

const { toStorage, fromStorage } = EventsEvent.versions.v1 ?? {};
const time = "2024-01-01T00:00:00.000000Z";
const makeEvent = (rest: object = {}): EventsEvent => ({
  apiVersion: "events.k8s.io/v1",
  kind: "Event",
  metadata: { name: "a", namespace: "shop" },
  eventTime: time,
  reportingController: "example.com/controller",
  reportingInstance: "i",
  action: "A",
  reason: "R",
  type: "Normal",
  regarding: { namespace: "shop" },
  ...rest,
});
const makeCoreEvent = (rest: object = {}): Event => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "a", namespace: "shop" },
  involvedObject: { namespace: "shop" },
  ...rest,
});

test("Events convert between the core and events.k8s.io groups without loss", () => {
  const event = completedBy(rules, makeEvent({ note: "n", deprecatedCount: 2 })) as unknown as JsonObject;

  const stored = toStorage?.(event);

  expect(stored).toMatchObject({
    apiVersion: "v1",
    involvedObject: { namespace: "shop" },
    message: "n",
    count: 2,
    reportingComponent: "example.com/controller",
  });
  expect({ ...fromStorage?.(stored ?? {}), apiVersion: "events.k8s.io/v1" }).toEqual(event);
});

test("events.k8s.io omits an empty reporter", () => {
  expect(fromStorage?.(completedBy(coreAdmissions, makeCoreEvent()) as unknown as JsonObject)).not.toHaveProperty(
    "reportingInstance",
  );
});

const cases: Record<string, [rest: object, old: object | undefined, want: string[]]> = {
  "events.k8s.io requires an eventTime": [{ eventTime: undefined }, undefined, ["eventTime: Required value"]],
  "a series has a count of at least two": [
    { series: { count: 1, lastObservedTime: time } },
    undefined,
    ['series.count: Invalid value: "": should be at least 2'],
  ],
  "deprecated fields must be unset": [
    { deprecatedCount: 5 },
    undefined,
    ['count: Invalid value: "": needs to be unset'],
  ],
  "the reporter must be a qualified name": [
    { reportingController: "" },
    undefined,
    [
      "reportingController: Required value",
      'reportingController: Invalid value: "": name part must be non-empty',
      expect.stringMatching(/^reportingController: Invalid value: "": name part must consist/) as string,
    ],
  ],
  "the note is immutable": [{ note: "z" }, {}, ['message: Invalid value: "z": field is immutable']],
  "a series may be added": [{ series: { count: 2, lastObservedTime: time } }, {}, []],
};
for (const [behaviour, [rest, old, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(problemsOf(rules, makeEvent(rest), old && makeEvent(old))).toEqual(want);
  });
}

test("a core Event must be in the namespace of its object, or in default for cluster-scoped objects", () => {
  expect(problemsOf(coreAdmissions, makeCoreEvent({ involvedObject: { namespace: "other" } }))).toEqual([
    'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
  ]);
  expect(
    problemsOf(coreAdmissions, makeCoreEvent({ metadata: { name: "a", namespace: "default" }, involvedObject: {} })),
  ).toEqual([]);
});
