import { expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type StorageClass } from "./storageclass-kind.ts";
import { rules } from "./storageclass-rules.ts";

const storageClass = (fields: object = {}): StorageClass => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "a" },
  provisioner: "p.example.com",
  ...fields,
});
const topology = (...values: string[]): object => ({ matchLabelExpressions: [{ key: "zone", values }] });

test("a class defaults to reclaimPolicy Delete and Immediate binding", () => {
  expect(completedBy(rules, storageClass())).toMatchObject({
    reclaimPolicy: "Delete",
    volumeBindingMode: "Immediate",
  });
});

const refused: Record<string, [fields: object, want: string[]]> = {
  "a missing provisioner": [{ provisioner: undefined }, ["provisioner: Required value"]],
  recycling: [
    { reclaimPolicy: "Recycle" },
    ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
  ],
  "a parameter without a name": [
    { parameters: { "": "x" } },
    ['parameters: Invalid value: "": field can not be empty.'],
  ],
  "duplicate topologies in any order": [
    { allowedTopologies: [topology("a", "b"), topology("b", "a")] },
    ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
  ],
};
for (const [what, [fields, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf(rules, storageClass(fields))).toEqual(want);
  });
}

test("provisioner and parameters are immutable; allowVolumeExpansion may change", () => {
  const old = completedBy(rules, storageClass({ parameters: { type: "slow" } }));

  expect(problemsOf(rules, storageClass({ parameters: { type: "fast" } }), old)).toEqual([
    'parameters: Invalid value: {"type":"fast"}: field is immutable',
  ]);
  expect(problemsOf(rules, storageClass({ parameters: { type: "slow" }, allowVolumeExpansion: true }), old)).toEqual(
    [],
  );
});

test("warns of deprecated node labels", () => {
  const object = storageClass({
    allowedTopologies: [{ matchLabelExpressions: [{ key: "failure-domain.beta.kubernetes.io/zone", values: ["a"] }] }],
  });

  expect(warningsOf(rules, object)).toEqual([
    'allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  ]);
});
