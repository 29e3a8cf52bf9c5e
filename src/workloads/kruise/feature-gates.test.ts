import { expect, test } from "vitest";
import { DEFAULT_GATES, createFeatureGates, parseFeatureGates } from "./feature-gates.ts";

test("gates are as OpenKruise ships them unless they are changed", () => {
  const gates = createFeatureGates({ CloneSetShortHash: true });

  expect([
    DEFAULT_GATES.isOn("CloneSetShortHash"),
    gates.isOn("CloneSetShortHash"),
    gates.isOn("InPlaceUpdateEnvFromMetadata"),
  ]).toEqual([false, true, true]);
});

test("a gate that needs another one is off without it", () => {
  const gates = createFeatureGates({
    KruiseDaemon: false,
    PodWebhook: false,
    DeletionProtectionForCRDCascadingGate: true,
  });

  expect(
    (["InPlaceUpdateEnvFromMetadata", "WorkloadSpread", "DeletionProtectionForCRDCascadingGate"] as const).map((gate) =>
      gates.isOn(gate),
    ),
  ).toEqual([false, false, false]);
});

test("a gate that does not exist is refused, with those that do", () => {
  expect(() => createFeatureGates({ CloneSetLongHash: true })).toThrow(
    /CloneSetLongHash is not a gate of release 1\.9\.1; known gates: .*CloneSetShortHash/,
  );
});

test("a stage stands for its gates, and a gate that is named beside it keeps its own value", () => {
  const gates = createFeatureGates(
    parseFeatureGates("AllAlpha=true,AllBeta=false,CloneSetShortHash=false,PodWebhook=true"),
  );

  expect(
    (["CloneSetPartitionRollback", "CloneSetShortHash", "StatefulSetAutoDeletePVC", "PodWebhook"] as const).map(
      (gate) => gates.isOn(gate),
    ),
  ).toEqual([true, false, false, true]);
});

test("what is not a list of gates is refused", () => {
  expect(() => parseFeatureGates("AllAlpha=yes")).toThrow('"AllAlpha=yes" is not NAME=true or NAME=false');
});
