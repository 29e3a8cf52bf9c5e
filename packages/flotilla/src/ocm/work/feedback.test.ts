import { expect, test } from "vitest";
import type { FeedbackRule } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { readFeedback } from "./feedback.ts";

const object = (apiVersion: string, kind: string, rest: object): KubernetesObject => ({
  apiVersion,
  kind,
  metadata: { name: "web", namespace: "shop" },
  ...rest,
});
const paths = (...jsonPaths: string[]): FeedbackRule => ({
  type: "JSONPaths",
  jsonPaths: jsonPaths.map((path, index) => ({ name: `v${index}`, path })),
});
const scalars = { rawJson: false, maxRawLength: 1024 };

test.each(["v1alpha1", "v1beta1"])("a %s CloneSet has well-known status feedback", (version) => {
  const cloneSet = object(`apps.kruise.io/${version}`, "CloneSet", {
    status: { replicas: 3, readyReplicas: 2, updatedReplicas: 1 },
  });

  const { values, problems } = readFeedback(cloneSet, [{ type: "WellKnownStatus" }], scalars);

  expect(Object.fromEntries(values.map(({ name, fieldValue }) => [name, fieldValue.integer]))).toEqual({
    Replicas: 3,
    ReadyReplicas: 2,
    UpdatedReplicas: 1,
  });
  expect(problems).toEqual([]);
});

test("readable values are returned, and unreadable ones are reported", () => {
  const widget = object("example.com/v1", "Widget", { spec: { size: 2, share: 0.5, list: [1] } });

  const { values, problems } = readFeedback(
    widget,
    [paths(".spec.size", ".spec.missing", ".spec.share", ".spec.list[7]", ".spec["), { type: "WellKnownStatus" }],
    scalars,
  );

  expect(values).toEqual([{ name: "v0", fieldValue: { type: "Integer", integer: 2 } }]);
  expect(problems).toEqual([
    "the value of v2 is not a string, an integer or a boolean",
    "failed to find value for v3 with error: the path .spec.list[7] cannot be followed in this object",
    expect.stringMatching(/^failed to parse json path \.spec\[ of v4 with error: /) as string,
    "cannot find the wellknown statuses for resource with gvk example.com/v1, Kind=Widget",
  ]);
});

test("objects are returned as JSON, up to a length", () => {
  const widget = object("example.com/v1", "Widget", { spec: { z: 1, a: "<b>" } });

  expect(readFeedback(widget, [paths(".spec")], { rawJson: true, maxRawLength: 40 }).values).toEqual([
    { name: "v0", fieldValue: { type: "JsonRaw", jsonRaw: '{"a":"\\u003cb\\u003e","z":1}' } },
  ]);
  expect(readFeedback(widget, [paths(".spec")], { rawJson: true, maxRawLength: 10 }).problems).toEqual([
    "the length of returned json raw string for name v0 is larger than the maximum length 10",
  ]);
});

test("values that exceed the size limit of one object are omitted and reported", () => {
  const widget = object("example.com/v1", "Widget", { spec: { a: "x".repeat(40_000), b: "y".repeat(40_000), c: 1 } });

  const { values, problems } = readFeedback(widget, [paths(".spec.a", ".spec.b")], scalars);

  expect(values.map(({ name }) => name)).toEqual(["v0"]);
  expect(problems).toEqual([expect.stringMatching(/^the value of v1 is omitted/) as string]);
});

test("an integer of the member that the hub cannot keep exactly is omitted and reported", () => {
  const widget = object("example.com/v1", "Widget", JSON.parse('{"status":{"at":1700000000000000001}}') as object);

  const { values, problems } = readFeedback(widget, [paths(".status.at"), paths(".status")], {
    rawJson: true,
    maxRawLength: 1024,
  });

  expect(values).toEqual([]);
  expect(problems).toEqual(
    Array.from(
      { length: 2 },
      () =>
        "the value of v0 is omitted: an integer must be between -9007199254740991 and 9007199254740991: larger integers cannot be kept exactly",
    ),
  );
});
