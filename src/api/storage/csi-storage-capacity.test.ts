import { expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../test-review.ts";
import { admissions, type CSIStorageCapacity } from "./csi-storage-capacity.ts";

const capacity = (fields: object = {}): CSIStorageCapacity => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIStorageCapacity",
  metadata: { name: "a", namespace: "n" },
  storageClassName: "fast",
  ...fields,
});

test("a capacity is of a class, and not negative", () => {
  expect(problemsOf(admissions, capacity({ storageClassName: "A", capacity: "-1" }))).toEqual([
    expect.stringMatching(/^storageClassName: Invalid value: "A": a lowercase RFC 1123 subdomain/),
    'capacity: Invalid value: "-1": must be greater than or equal to 0',
  ]);
});

test("what was measured changes; where and of what does not", () => {
  const old = completedBy(admissions, capacity({ capacity: "1Gi" }));

  expect(problemsOf(admissions, capacity({ capacity: "2Gi" }), old)).toEqual([]);
  expect(
    problemsOf(admissions, capacity({ nodeTopology: { matchLabels: { a: "b" } }, storageClassName: "slow" }), old),
  ).toEqual([
    'nodeTopology: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable',
    'storageClassName: Invalid value: "slow": field is immutable',
  ]);
});

test("old names of node labels are warned of", () => {
  const object = capacity({
    nodeTopology: {
      matchLabels: { "beta.kubernetes.io/os": "linux" },
      matchExpressions: [{ key: "beta.kubernetes.io/arch", operator: "Exists" }],
    },
  });

  expect(warningsOf(admissions, object)).toEqual([
    'nodeTopology.matchExpressions[0].key: beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead',
    'nodeTopology.matchLabels.beta.kubernetes.io/os: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
});
