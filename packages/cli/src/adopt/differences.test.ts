import { expect, test } from "vitest";
import { findDifferences, formatSteps, keepingOverrider, valueAt } from "./differences.ts";

test("differences are reported per field; lists of different lengths differ as a whole", () => {
  const before = {
    spec: { replicas: 2, template: { containers: [{ name: "web", image: "a" }] }, args: ["x"], gone: 1 },
  };
  const after = {
    spec: { replicas: 2, template: { containers: [{ name: "web", image: "b" }] }, args: ["x", "y"], come: 2 },
  };

  expect(findDifferences(before, after)).toEqual([
    { steps: ["spec", "template", "containers", "0", "image"], before: "a", after: "b" },
    { steps: ["spec", "args"], before: ["x"], after: ["x", "y"] },
    { steps: ["spec", "gone"], before: 1 },
    { steps: ["spec", "come"], after: 2 },
  ]);
});

test("a null field equals a missing one, but an empty value is a difference", () => {
  expect(findDifferences({ metadata: { creationTimestamp: null } }, { metadata: {} })).toEqual([]);
  expect(findDifferences({ volume: { emptyDir: {} } }, { volume: {} })).toHaveLength(1);
});

test("keys such as __proto__ are compared like any other", () => {
  const hostile = JSON.parse('{"data": {"__proto__": "x"}}') as object;

  expect(findDifferences(hostile, { data: {} })).toEqual([{ steps: ["data", "__proto__"], before: "x" }]);
  expect(valueAt({}, ["constructor"])).toBeUndefined();
});

test("paths are formatted with dots and indexes", () => {
  expect(formatSteps(["spec", "containers", "0", "image"])).toBe("spec.containers[0].image");
  expect(formatSteps(["metadata", "labels", "app.kubernetes.io/name"])).toBe("metadata.labels[app.kubernetes.io/name]");
});

test.each([
  [
    { steps: ["data", "a/b~c"], before: "x", after: "y" },
    { path: "/data/a~1b~0c", operator: "replace", value: "x" },
  ],
  [
    { steps: ["data", "a"], before: "x" },
    { path: "/data/a", operator: "add", value: "x" },
  ],
  [
    { steps: ["data", "a"], after: "y" },
    { path: "/data/a", operator: "remove" },
  ],
])("an overrider keeps the member's value (%#)", (difference, want) => {
  expect(keepingOverrider(difference)).toEqual(want);
});
