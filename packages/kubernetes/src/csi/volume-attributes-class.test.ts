import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import type { VolumeAttributesClass } from "./volume-attributes-class.ts";
import { volumeAttributesClassRules } from "./volume-attributes-class-rules.ts";

const attributes = (fields: object = {}): VolumeAttributesClass => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "VolumeAttributesClass",
  metadata: { name: "a" },
  driverName: "x.y",
  parameters: { iops: "1" },
  ...fields,
});

test("a class needs a driver and parameters", () => {
  expect(problemsOf([volumeAttributesClassRules], attributes({ driverName: "", parameters: {} }))).toEqual([
    "driverName: Required value",
    "parameters: Required value: must contain at least one key/value pair",
  ]);
});

test("a class is immutable", () => {
  const old = completedBy([volumeAttributesClassRules], attributes());

  expect(
    problemsOf([volumeAttributesClassRules], attributes({ driverName: "z", parameters: { iops: "2" } }), old),
  ).toEqual([
    "driverName: Forbidden: updates to driverName are forbidden.",
    "parameters: Forbidden: updates to parameters are forbidden.",
  ]);
});
