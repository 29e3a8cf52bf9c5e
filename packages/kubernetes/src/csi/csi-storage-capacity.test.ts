import { expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import type { CSIStorageCapacity } from "./csi-storage-capacity.ts";
import { csiStorageCapacityRules } from "./csi-storage-capacity-rules.ts";

const capacity = (fields: object = {}): CSIStorageCapacity => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIStorageCapacity",
  metadata: { name: "a", namespace: "n" },
  storageClassName: "fast",
  ...fields,
});

test("a capacity needs a storage class and must not be negative", () => {
  expect(problemsOf([csiStorageCapacityRules], capacity({ storageClassName: "A", capacity: "-1" }))).toEqual([
    expect.stringMatching(/^storageClassName: Invalid value: "A": a lowercase RFC 1123 subdomain/),
    'capacity: Invalid value: "-1": must be greater than or equal to 0',
  ]);
});

test("the capacity may change; topology and class are immutable", () => {
  const old = completedBy([csiStorageCapacityRules], capacity({ capacity: "1Gi" }));

  expect(problemsOf([csiStorageCapacityRules], capacity({ capacity: "2Gi" }), old)).toEqual([]);
  expect(
    problemsOf(
      [csiStorageCapacityRules],
      capacity({ nodeTopology: { matchLabels: { a: "b" } }, storageClassName: "slow" }),
      old,
    ),
  ).toEqual([
    'nodeTopology: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable',
    'storageClassName: Invalid value: "slow": field is immutable',
  ]);
});

test("warns of deprecated node labels", () => {
  const object = capacity({
    nodeTopology: {
      matchLabels: { "beta.kubernetes.io/os": "linux" },
      matchExpressions: [{ key: "beta.kubernetes.io/arch", operator: "Exists" }],
    },
  });

  expect(warningsOf([csiStorageCapacityRules], object)).toEqual([
    'nodeTopology.matchExpressions[0].key: beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead',
    'nodeTopology.matchLabels.beta.kubernetes.io/os: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
});
