import { expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../test-review.ts";
import { admissions, type CSIDriver } from "./csi-driver.ts";

const driver = (spec: object = {}): CSIDriver => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIDriver",
  metadata: { name: "disks.example.com" },
  spec,
});

test("a driver attaches persistent volumes and is told nothing, unless it says otherwise", () => {
  expect(completedBy(admissions, driver()).spec).toEqual({
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: "ReadWriteOnceWithFSType",
    volumeLifecycleModes: ["Persistent"],
    requiresRepublish: false,
    seLinuxMount: false,
  });
});

test("what a stock server does not know yet is dropped", () => {
  expect(completedBy(admissions, driver({ preventPodSchedulingIfMissing: true })).spec).not.toHaveProperty(
    "preventPodSchedulingIfMissing",
  );
});

const refused: Record<string, [spec: object, want: string[]]> = {
  "an unknown policy of groups": [
    { fsGroupPolicy: "X" },
    ['spec.fsGroupPolicy: Unsupported value: "X": supported values: "File", "None", "ReadWriteOnceWithFSType"'],
  ],
  "an unknown lifecycle": [
    { volumeLifecycleModes: ["A"] },
    ['spec.volumeLifecycleModes: Unsupported value: "A": supported values: "Persistent", "Ephemeral"'],
  ],
  "two tokens for one audience": [
    { tokenRequests: [{ audience: "a" }, { audience: "a" }] },
    ['spec.tokenRequests[1].audience: Duplicate value: "a"'],
  ],
  "a token that hardly lives": [
    { tokenRequests: [{ audience: "a", expirationSeconds: 1 }] },
    ["spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes"],
  ],
  "a place for tokens that are not asked for": [
    { serviceAccountTokenInSecrets: true },
    [
      "spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified",
    ],
  ],
  "updates in too quick a row": [
    { nodeAllocatableUpdatePeriodSeconds: 9 },
    ["spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds"],
  ],
};
for (const [what, [spec, want]] of Object.entries(refused)) {
  test(`refused: ${what}`, () => {
    expect(problemsOf(admissions, driver(spec))).toEqual(want);
  });
}

test("whether volumes are attached, and for how long they live, stays", () => {
  const old = completedBy(admissions, driver());

  expect(problemsOf(admissions, driver({ attachRequired: false, volumeLifecycleModes: ["Ephemeral"] }), old)).toEqual([
    "spec.attachedRequired: Invalid value: false: field is immutable",
    'spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable',
  ]);
});

test("tokens that could end up in logs are warned of, until nothing changes about them", () => {
  const tokens = driver({ tokenRequests: [{ audience: "a" }] });

  expect(warningsOf(admissions, tokens)).toHaveLength(1);
  expect(warningsOf(admissions, tokens, completedBy(admissions, tokens))).toEqual([]);
});
