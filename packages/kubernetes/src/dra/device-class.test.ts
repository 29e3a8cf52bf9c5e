import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import type { DeviceClass } from "./device-class.ts";
import { deviceClassRules } from "./device-class-rules.ts";

const deviceClass = (spec: object): DeviceClass => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "DeviceClass",
  metadata: { name: "gpu" },
  spec,
});
const selecting = (expression: string): DeviceClass => deviceClass({ selectors: [{ cel: { expression } }] });

const accepted = [
  'device.driver == "gpu.example.com"',
  'device.attributes["gpu.example.com"].model',
  'cel.bind(gpu, device.attributes["gpu.example.com"], gpu.healthy && gpu.generation > 3)',
  'device.capacity["gpu.example.com"].memory.compareTo(quantity("1Gi")) >= 0',
];
for (const expression of accepted) {
  test(`devices can be selected by ${expression}`, () => {
    expect(problemsOf([deviceClassRules], selecting(expression))).toEqual([]);
  });
}

test("rejects an expression above the cost limit", () => {
  const everyPair =
    'device.attributes["a"].exists(k, device.attributes["a"].exists(j, device.attributes["a"].exists(i, device.attributes["a"].exists(h, i == j && h == k))))';

  expect(problemsOf([deviceClassRules], selecting(everyPair))).toEqual([
    "spec.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit",
  ]);
});

test("an expression that is too long is not compiled", () => {
  expect(problemsOf([deviceClassRules], selecting("x".repeat(10_241)))).toEqual([
    "spec.selectors[0].cel.expression: Too long: may not be more than 10240 bytes",
  ]);
});

test("a class can provide an extended resource", () => {
  expect(problemsOf([deviceClassRules], deviceClass({ extendedResourceName: "example.com/gpu" }))).toEqual([]);
  expect(problemsOf([deviceClassRules], deviceClass({ extendedResourceName: "cpu" }))).toEqual([
    'spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name',
  ]);
});

test("parameters that were stored before stay valid", () => {
  const large = deviceClass({ config: [{ opaque: { driver: "a.b", parameters: { text: "x".repeat(11_000) } } }] });

  expect(problemsOf([deviceClassRules], large)).toEqual([
    "spec.config[0].opaque.parameters: Too long: may not be more than 10240 bytes",
  ]);
  expect(problemsOf([deviceClassRules], large, completedBy([deviceClassRules], large))).toEqual([]);
});
