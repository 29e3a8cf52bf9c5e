import { expect, test } from "vitest";
import { isBookkeeping } from "./bookkeeping.ts";
import { compareFields } from "./field-changes.ts";

const cases: Record<string, { before: unknown; after: unknown; want: unknown[] }> = {
  "equal objects do not differ": { before: { spec: { replicas: 1 } }, after: { spec: { replicas: 1 } }, want: [] },
  "a field is named by its path": {
    before: { spec: { replicas: 4 } },
    after: { spec: { replicas: 6 } },
    want: [{ path: "spec.replicas", before: 4, after: 6 }],
  },
  "a field that comes has no value before, and one that goes none after": {
    before: { a: 1 },
    after: { b: 2 },
    want: [
      { path: "a", before: 1 },
      { path: "b", after: 2 },
    ],
  },
  "items with names are compared by them": {
    before: {
      containers: [
        { name: "web", image: "web:1" },
        { name: "log", image: "log:1" },
      ],
    },
    after: {
      containers: [
        { name: "log", image: "log:1" },
        { name: "web", image: "web:2" },
      ],
    },
    want: [{ path: "containers[web].image", before: "web:1", after: "web:2" }],
  },
  "items with names in another order are a change of the list": {
    before: { env: [{ name: "a" }, { name: "b" }] },
    after: { env: [{ name: "b" }, { name: "a" }] },
    want: [{ path: "env", before: [{ name: "a" }, { name: "b" }], after: [{ name: "b" }, { name: "a" }] }],
  },
  "other lists are compared as a whole": {
    before: { args: ["a"] },
    after: { args: ["a", "b"] },
    want: [{ path: "args", before: ["a"], after: ["a", "b"] }],
  },
  "keys with dots are set apart": {
    before: { metadata: {} },
    after: { metadata: { annotations: { "example.com/a": "1" } } },
    want: [{ path: "metadata.annotations[example.com/a]", after: "1" }],
  },
  "what stages write for each other is left out, also where there were no annotations before": {
    before: { metadata: {} },
    after: {
      metadata: {
        annotations: { "work.karmada.io/name": "web", "kubectl.kubernetes.io/last-applied-configuration": "{}" },
      },
    },
    want: [],
  },
  "what a Secret holds is not shown": {
    before: { apiVersion: "v1", kind: "Secret", data: { "tls.key": "b2xk" } },
    after: { apiVersion: "v1", kind: "Secret", data: { "tls.key": "bmV3" } },
    want: [{ path: "data[tls.key]", before: "(hidden)", after: "(hidden)" }],
  },
  "hostile keys are keys": {
    before: JSON.parse('{"__proto__":{"a":1}}'),
    after: {},
    want: [{ path: "__proto__", before: { a: 1 } }],
  },
};
for (const [behaviour, { before, after, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(compareFields(before, after, isBookkeeping)).toEqual({ fields: want, more: 0 });
  });
}

test("many changes are counted after the first fifty", () => {
  const after = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`key${index}`, index]));

  const { fields, more } = compareFields({}, after);

  expect([fields.length, more]).toEqual([50, 10]);
});
