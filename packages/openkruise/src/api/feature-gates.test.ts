import { expect, test } from "vitest";
import { DEFAULT_GATES, createFeatureGates, parseFeatureGates } from "./feature-gates.ts";

test("gates have OpenKruise's defaults unless they are changed", () => {
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

test("rejects an unknown gate and lists the known ones", () => {
  expect(() => createFeatureGates({ CloneSetLongHash: true })).toThrow(
    /CloneSetLongHash is not a gate of release 1\.9\.1; known gates: .*CloneSetShortHash/,
  );
});

test("a stage sets all its gates, except those named explicitly", () => {
  const gates = createFeatureGates(
    parseFeatureGates("AllAlpha=true,AllBeta=false,CloneSetShortHash=false,PodWebhook=true"),
  );

  expect(
    (["CloneSetPartitionRollback", "CloneSetShortHash", "StatefulSetAutoDeletePVC", "PodWebhook"] as const).map(
      (gate) => gates.isOn(gate),
    ),
  ).toEqual([true, false, false, true]);
});

test("rejects text that is not a list of gates", () => {
  expect(() => parseFeatureGates("AllAlpha=yes")).toThrow('"AllAlpha=yes" is not NAME=true or NAME=false');
});
