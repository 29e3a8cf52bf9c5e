import { expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import type { CSIDriver } from "./csi-driver.ts";
import { csiDriverRules } from "./csi-driver-rules.ts";

const driver = (spec: object = {}): CSIDriver => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIDriver",
  metadata: { name: "disks.example.com" },
  spec,
});

test("a driver defaults to attachRequired, no podInfoOnMount and persistent volumes", () => {
  expect(completedBy([csiDriverRules], driver()).spec).toEqual({
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: "ReadWriteOnceWithFSType",
    volumeLifecycleModes: ["Persistent"],
    requiresRepublish: false,
    seLinuxMount: false,
  });
});

test("fields of disabled features are dropped", () => {
  expect(completedBy([csiDriverRules], driver({ preventPodSchedulingIfMissing: true })).spec).not.toHaveProperty(
    "preventPodSchedulingIfMissing",
  );
});

const refused: Record<string, [spec: object, want: string[]]> = {
  "an unknown fsGroupPolicy": [
    { fsGroupPolicy: "X" },
    ['spec.fsGroupPolicy: Unsupported value: "X": supported values: "File", "None", "ReadWriteOnceWithFSType"'],
  ],
  "an unknown volume lifecycle mode": [
    { volumeLifecycleModes: ["A"] },
    ['spec.volumeLifecycleModes: Unsupported value: "A": supported values: "Persistent", "Ephemeral"'],
  ],
  "duplicate token audiences": [
    { tokenRequests: [{ audience: "a" }, { audience: "a" }] },
    ['spec.tokenRequests[1].audience: Duplicate value: "a"'],
  ],
  "a token expiration that is too short": [
    { tokenRequests: [{ audience: "a", expirationSeconds: 1 }] },
    ["spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes"],
  ],
  "serviceAccountTokenInSecrets without tokenRequests": [
    { serviceAccountTokenInSecrets: true },
    [
      "spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified",
    ],
  ],
  "a node update period that is too short": [
    { nodeAllocatableUpdatePeriodSeconds: 9 },
    ["spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds"],
  ],
};
for (const [what, [spec, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf([csiDriverRules], driver(spec))).toEqual(want);
  });
}

test("attachRequired and the volume lifecycle modes are immutable", () => {
  const old = completedBy([csiDriverRules], driver());

  expect(
    problemsOf([csiDriverRules], driver({ attachRequired: false, volumeLifecycleModes: ["Ephemeral"] }), old),
  ).toEqual([
    "spec.attachedRequired: Invalid value: false: field is immutable",
    'spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable',
  ]);
});

test("warns of tokens that could be logged, only when they change", () => {
  const tokens = driver({ tokenRequests: [{ audience: "a" }] });

  expect(warningsOf([csiDriverRules], tokens)).toHaveLength(1);
  expect(warningsOf([csiDriverRules], tokens, completedBy([csiDriverRules], tokens))).toEqual([]);
});
