import { expect, test } from "vitest";
import { isBookkeeping } from "../explain/explain-bookkeeping.ts";
import { compareFields } from "./field-changes.ts";

const cases: Record<string, { before: unknown; after: unknown; want: unknown[] }> = {
  "equal objects have no changes": { before: { spec: { replicas: 1 } }, after: { spec: { replicas: 1 } }, want: [] },
  "names a field by its path": {
    before: { spec: { replicas: 4 } },
    after: { spec: { replicas: 6 } },
    want: [{ path: "spec.replicas", before: 4, after: 6 }],
  },
  "an added field has no value before, and a removed field has no value after": {
    before: { a: 1 },
    after: { b: 2 },
    want: [
      { path: "a", before: 1 },
      { path: "b", after: 2 },
    ],
  },
  "compares list items with names by name": {
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
  "compares manifests in a list by kind and name, and hides the data of Secrets": {
    before: {
      manifests: [
        { kind: "Deployment", metadata: { namespace: "shop", name: "web" }, spec: { replicas: 1 } },
        { apiVersion: "v1", kind: "Secret", metadata: { name: "db" }, data: { key: "b25l" } },
      ],
    },
    after: {
      manifests: [
        { kind: "Deployment", metadata: { namespace: "shop", name: "web" }, spec: { replicas: 2 } },
        { apiVersion: "v1", kind: "Secret", metadata: { name: "db" }, data: { key: "dHdv" } },
        { apiVersion: "v1", kind: "Secret", metadata: { name: "new" }, data: { key: "dHdv" } },
      ],
    },
    want: [
      { path: "manifests[Deployment shop/web].spec.replicas", before: 1, after: 2 },
      { path: "manifests[Secret db].data.key", before: "(hidden)", after: "(hidden)" },
      {
        path: "manifests[Secret new]",
        after: { apiVersion: "v1", kind: "Secret", metadata: { name: "new" }, data: "(hidden)" },
      },
    ],
  },
  "reordering named items is a change of the list": {
    before: { env: [{ name: "a" }, { name: "b" }] },
    after: { env: [{ name: "b" }, { name: "a" }] },
    want: [{ path: "env", before: [{ name: "a" }, { name: "b" }], after: [{ name: "b" }, { name: "a" }] }],
  },
  "compares other lists as a whole": {
    before: { args: ["a"] },
    after: { args: ["a", "b"] },
    want: [{ path: "args", before: ["a"], after: ["a", "b"] }],
  },
  "quotes keys that contain dots": {
    before: { metadata: {} },
    after: { metadata: { annotations: { "example.com/a": "1" } } },
    want: [{ path: "metadata.annotations[example.com/a]", after: "1" }],
  },
  "leaves out bookkeeping annotations, also where there were no annotations before": {
    before: { metadata: {} },
    after: {
      metadata: {
        annotations: { "work.karmada.io/name": "web", "kubectl.kubernetes.io/last-applied-configuration": "{}" },
      },
    },
    want: [],
  },
  "does not show Secret data": {
    before: { apiVersion: "v1", kind: "Secret", data: { "tls.key": "b2xk" } },
    after: { apiVersion: "v1", kind: "Secret", data: { "tls.key": "bmV3" } },
    want: [{ path: "data[tls.key]", before: "(hidden)", after: "(hidden)" }],
  },
  "handles hostile keys such as __proto__ as plain keys": {
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

test("counts changes after the first fifty", () => {
  const after = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`key${index}`, index]));

  const { fields, more } = compareFields({}, after);

  expect([fields.length, more]).toEqual([50, 10]);
});
