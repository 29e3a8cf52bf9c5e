import { expect, test } from "vitest";
import type { Json } from "@flotilla/base";
import { compareResult, renderDifferences } from "./compare-result.ts";

const cases: Record<string, { name: string; want: Json; have: Json; paths: string[] }> = {
  "equal values do not differ": {
    name: "retained",
    want: { a: [1, { b: "x" }] },
    have: { a: [1, { b: "x" }] },
    paths: [],
  },
  "every differing field is named": {
    name: "retained",
    want: { a: 1, b: [1, 2] },
    have: { a: 2, b: [1], c: 3 },
    paths: ["retained.a", "retained.b[1]", "retained.c"],
  },
  "keys that are not identifiers are quoted": {
    name: "retained",
    want: { "a.b/c": 1 },
    have: {},
    paths: ['retained["a.b/c"]'],
  },
  "a key from Object.prototype is compared like any other": {
    name: "retained",
    want: { constructor: 1 },
    have: {},
    paths: ["retained.constructor"],
  },
  "null equals a missing field": { name: "retained", want: { a: null }, have: {}, paths: [] },
  "an excluded field matches anything": {
    name: "revised",
    want: { a: "{{EXCLUDE}}", b: ["{{EXCLUDE}}"] },
    have: { b: [3] },
    paths: [],
  },
  "an empty map in a spec is a value": {
    name: "retained",
    want: { emptyDir: {} },
    have: {},
    paths: ["retained.emptyDir"],
  },
  "an empty string in a status equals a missing one": {
    name: "status",
    want: { phase: "", list: [], map: { deep: {} } },
    have: {},
    paths: [],
  },
  "a zero in a status is a value": { name: "status", want: { ready: 0 }, have: {}, paths: ["status"] },
  "only the status of an aggregated object is compared": {
    name: "aggregatedStatus",
    want: { kind: "A", status: { ready: 1 } },
    have: { kind: "A", spec: {}, status: { ready: 2 } },
    paths: ["aggregatedStatus.status.ready"],
  },
  "quantities are compared by value": {
    name: "requires",
    want: { resourceRequest: { cpu: "1", memory: "1Gi" } },
    have: { resourceRequest: { cpu: "1000m", memory: "1Mi" } },
    paths: ["requires.resourceRequest.memory"],
  },
  "components are compared in any order": {
    name: "components",
    want: [{ name: "b" }, { name: "a" }],
    have: [{ name: "a" }, { name: "b" }],
    paths: [],
  },
  "dependencies are compared in any order": {
    name: "dependencies",
    want: [
      { apiVersion: "v1", kind: "Secret", name: "s" },
      { apiVersion: "v1", kind: "ConfigMap", name: "c" },
    ],
    have: [
      { apiVersion: "v1", kind: "ConfigMap", name: "c" },
      { apiVersion: "v1", kind: "Secret", name: "s", namespace: "" },
    ],
    paths: [],
  },
};
for (const [behaviour, { name, want, have, paths }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(compareResult(name, want, have).map(({ path }) => path)).toEqual(paths);
  });
}

test("a difference shows the expected and the actual value", () => {
  expect(renderDifferences(compareResult("healthy", true, undefined), "  ")).toEqual([
    "  healthy",
    "    want true",
    "    have nothing",
  ]);
});

test("only the first of many differences are shown", () => {
  const lines = renderDifferences(
    compareResult(
      "retained",
      Array.from({ length: 50 }, (_, index) => index),
      [],
    ),
    "",
  );

  expect(lines).toHaveLength(61);
  expect(lines.at(-1)).toBe("… and 30 more differences");
});
