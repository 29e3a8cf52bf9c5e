import { expect, test } from "vitest";
import type { IgnoreField } from "@flotilla/ocm";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { IgnoreFieldsError, retainIgnored } from "./ignore-fields.ts";

const object = (rest: object, digest = "1"): KubernetesObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", annotations: { "flotilla.dev/applied-digest": digest } },
  ...rest,
});
const containers = (...items: [string, string][]): object => ({
  spec: { replicas: 2, containers: items.map(([name, image]) => ({ name, image })) },
});
const retained = (fields: Partial<IgnoreField>, desired: KubernetesObject, observed: KubernetesObject): object =>
  (retainIgnored([{ condition: "OnSpokePresent", ...fields }])(desired, observed) as unknown as { spec: object }).spec;

const wanted = object(containers(["web", "web:1"], ["log", "log:1"]));
const shown = object({
  spec: {
    replicas: 5,
    containers: [
      { name: "injected", image: "x" },
      { name: "log", image: "log:9" },
      { name: "web", image: "web:9" },
    ],
  },
});

const ways: Record<string, { fields: Partial<IgnoreField>; want: object }> = {
  "a JSON path": {
    fields: { jsonPaths: [".spec.replicas"] },
    want: {
      replicas: 5,
      containers: [
        { name: "web", image: "web:1" },
        { name: "log", image: "log:1" },
      ],
    },
  },
  "a JSON path with a filter": {
    fields: { jsonPaths: ['.spec.containers[?(@.name=="log")].image'] },
    want: {
      replicas: 2,
      containers: [
        { name: "web", image: "web:1" },
        { name: "log", image: "log:9" },
      ],
    },
  },
  "a JSON pointer": {
    fields: { jsonPointers: ["/spec/containers/0/image"] },
    want: {
      replicas: 2,
      containers: [
        { name: "web", image: "web:9" },
        { name: "log", image: "log:1" },
      ],
    },
  },
  "a JSON pointer to a missing field": {
    fields: { jsonPointers: ["/spec/nothing/here"] },
    want: {
      replicas: 2,
      containers: [
        { name: "web", image: "web:1" },
        { name: "log", image: "log:1" },
      ],
    },
  },
  "all elements of a list in jq": {
    fields: { jqPathExpressions: [".spec.containers[].image"] },
    want: {
      replicas: 2,
      containers: [
        { name: "web", image: "web:9" },
        { name: "log", image: "log:9" },
      ],
    },
  },
  "a selection in jq": {
    fields: { jqPathExpressions: ['.spec.containers[] | select(.name == "web") | .image, .spec["replicas"]'] },
    want: {
      replicas: 5,
      containers: [
        { name: "web", image: "web:9" },
        { name: "log", image: "log:1" },
      ],
    },
  },
};
for (const [way, { fields, want }] of Object.entries(ways)) {
  test(`${way} leaves the named field to the member, and matches list elements by name`, () => {
    expect(retained(fields, wanted, shown)).toEqual(want);
  });
}

test("a field that the member does not have is left out", () => {
  expect(
    retained({ jsonPaths: [".spec.replicas"] }, object({ spec: { replicas: 2, paused: true } }), object({ spec: {} })),
  ).toEqual({ paused: true });
});

test("with OnSpokeChange a change on the member is kept until the manifest changes", () => {
  const retain = retainIgnored([{ condition: "OnSpokeChange", jsonPaths: [".spec.replicas"] }]);

  expect(retain(object({ spec: { replicas: 2 } }, "1"), object({ spec: { replicas: 5 } }, "1"))).toMatchObject({
    spec: { replicas: 5 },
  });
  expect(retain(object({ spec: { replicas: 2 } }, "2"), object({ spec: { replicas: 5 } }, "1"))).toMatchObject({
    spec: { replicas: 2 },
  });
});

test("keys with a special meaning in JavaScript are plain keys", () => {
  const hostile = object({ data: JSON.parse('{"__proto__": {"a": 1}, "b": 2}') as object });

  expect(() =>
    retainIgnored([{ condition: "OnSpokePresent", jsonPointers: ["/data/__proto__/a", "/constructor/prototype"] }])(
      hostile,
      object({}),
    ),
  ).not.toThrow();
  expect(({} as { a?: number }).a).toBeUndefined();
});

const mistakes: Record<string, Partial<IgnoreField>> = {
  "JSON Pointer error in 'spec': it does not start with a slash": { jsonPointers: ["spec"] },
  "JQ expression error in '.a | map(.b)': Flotilla understands paths, [] and select(path == value) of jq, and not \"map(.b)\"":
    { jqPathExpressions: [".a | map(.b)"] },
  "JQ expression error in '': a part of it is empty": { jqPathExpressions: [""] },
};
for (const [message, fields] of Object.entries(mistakes)) {
  test(`an invalid expression is reported: ${message}`, () => {
    expect(() => retainIgnored([{ condition: "OnSpokePresent", ...fields }])).toThrow(new IgnoreFieldsError(message));
  });
}
