import { expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import type { ResourceSlice } from "./resource-slice.ts";
import { resourceSliceRules } from "./resource-slice-rules.ts";

const slice = (fields: object = {}): ResourceSlice => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceSlice",
  metadata: { name: "a" },
  spec: {
    driver: "d.example.com",
    pool: { name: "p", generation: 1, resourceSliceCount: 1 },
    nodeName: "node-1",
    ...fields,
  },
});
const shared = (value: string, requestPolicy: object): object => ({
  devices: [{ name: "a", allowMultipleAllocations: true, capacity: { memory: { value, requestPolicy } } }],
});
const AT = "spec.devices[0].capacity[memory].requestPolicy";

const refused: Record<string, [fields: object, want: string[]]> = {
  "devices without a node": [
    { nodeName: undefined },
    [
      "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required",
    ],
  ],
  "devices with two node selections": [
    { allNodes: true },
    [
      'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, ' +
        "`perDeviceNodeSelection` is required, but multiple fields are set",
    ],
  ],
  "an empty pool": [
    { pool: { name: "", generation: -1, resourceSliceCount: 0 } },
    [
      "spec.pool.name: Required value",
      "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
      "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
    ],
  ],
  "duplicate device names": [{ devices: [{ name: "a" }, { name: "a" }] }, ['spec.devices[1]: Duplicate value: "a"']],
  "an attribute without a value": [
    { devices: [{ name: "a", attributes: { model: {} } }] },
    ['spec.devices[0].attributes[model]: Invalid value: "": exactly one value must be specified'],
  ],
  "an invalid version": [
    { devices: [{ name: "a", attributes: { v: { version: "1.2" } } }] },
    [
      'spec.devices[0].attributes[v].version: Invalid value: "1.2": must be a string compatible with semver.org spec 2.0.0',
    ],
  ],
  "a request policy for a device that cannot be shared": [
    { devices: [{ name: "a", capacity: { memory: { value: "1", requestPolicy: {} } } }] },
    [`${AT}: Forbidden: allowMultipleAllocations must be true`],
  ],
  "a default that is not a valid value": [
    shared("8Gi", { default: "3Gi", validValues: ["1Gi", "2Gi"] }),
    [`${AT}.validValues: Invalid value: "3Gi": default value is not valid according to the requestPolicy`],
  ],
  "a range beyond the capacity": [
    shared("4", { default: "1", validRange: { min: "1", max: "5" } }),
    [`${AT}.validRange.max: Invalid value: "5": max is larger than capacity value: 4`],
  ],
  "a default that is not a multiple of the step": [
    shared("9", { default: "2", validRange: { min: "1", step: "2" } }),
    [`${AT}.validRange.step: Invalid value: "2": value is not a multiple of a given step (2) from (1)`],
  ],
  "a step of zero": [
    shared("9", { default: "2", validRange: { min: "1", step: "0" } }),
    [`${AT}.validRange.step: Invalid value: "2": value is not a multiple of a given step (0) from (1)`],
  ],
  "a taint without an effect": [
    { devices: [{ name: "a", taints: [{ key: "broken" }] }] },
    ["spec.devices[0].taints[0].effect: Required value"],
  ],
  "binding conditions without failure conditions": [
    { devices: [{ name: "a", bindingConditions: ["ready"] }] },
    [
      "spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions",
    ],
  ],
  "too many devices": [
    { devices: Array.from({ length: 129 }, (_, index) => ({ name: `d${index}` })) },
    ["spec.devices: Too many: 129: must have at most 128 items"],
  ],
};
for (const [what, [fields, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf([resourceSliceRules], slice(fields))).toEqual(want);
  });
}

test("devices may change; driver, pool and node are immutable", () => {
  const old = completedBy([resourceSliceRules], slice());

  expect(problemsOf([resourceSliceRules], slice({ devices: [{ name: "a" }] }), old)).toEqual([]);
  expect(problemsOf([resourceSliceRules], slice({ nodeName: "node-2" }), old)).toEqual([
    'spec.nodeName: Invalid value: "node-2": field is immutable',
  ]);
});

test("fields of disabled features are dropped", () => {
  const { spec } = completedBy(
    [resourceSliceRules],
    slice({
      devices: [{ name: "a", attributes: { x: { int: 1, ints: [1] } }, nodeAllocatableResourceMappings: { cpu: {} } }],
    }),
  );

  expect(spec.devices).toEqual([{ name: "a", attributes: { x: { int: 1 } } }]);
});

test("warns of upper-case driver names", () => {
  expect(warningsOf([resourceSliceRules], slice({ driver: "D.example.com" }))).toEqual([
    'spec.driver: driver names should be lowercase; "D.example.com" contains uppercase characters',
  ]);
});
