import { describe, expect, test } from "vitest";
import type { CloneSet } from "../../../api/index.ts";
import { createCloneSetAdmission, unsupportedFields } from "./admission.ts";

function makeCloneSet(spec: Partial<CloneSet["spec"]> = {}): CloneSet {
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "web:1" }] } };
  return { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet", metadata: { name: "web" }, spec: { replicas: 1, selector: { matchLabels: { app: "web" } }, template, ...spec } };
}
const rolling = (rollingUpdate: NonNullable<CloneSet["spec"]["updateStrategy"]>["rollingUpdate"]): Partial<CloneSet["spec"]> => ({ updateStrategy: { type: "RollingUpdate", rollingUpdate } });

describe("a simulated member refuses of a CloneSet", () => {
  const cases: Record<string, { spec: Partial<CloneSet["spec"]>; field: string }> = {
    "lifecycle hooks": { spec: { lifecycle: { preDelete: { finalizersHandler: ["example.com/hold"] } } }, field: "spec.lifecycle" },
    "volume claims": { spec: { volumeClaimTemplates: [{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" } }] }, field: "spec.volumeClaimTemplates" },
    "a grace period": { spec: rolling({ inPlaceUpdateStrategy: { gracePeriodSeconds: 5 } }), field: "spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.gracePeriodSeconds" },
    "image pre-download": { spec: rolling({ inPlaceUpdateStrategy: { imagePreDownloadParallelism: 2 } }), field: "spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.imagePreDownloadParallelism" },
  };
  test.each(Object.entries(cases))("%s", (_behaviour, { spec, field }) => {
    expect(unsupportedFields(makeCloneSet(spec)).map((error) => error.field)).toEqual([field]);
  });
});

test("what the simulation does is accepted", () => {
  const cloneSet = makeCloneSet(rolling({ podUpdatePolicy: "InPlaceIfPossible", partition: "50%", maxSurge: 1, inPlaceUpdateStrategy: {} }));

  expect(unsupportedFields(cloneSet)).toEqual([]);
});

test("the hub accepts everything, because real members know it", () => {
  const admission = createCloneSetAdmission((cluster) => cluster !== "hub");
  const object = makeCloneSet({ lifecycle: { preDelete: { finalizersHandler: ["example.com/hold"] } } });
  const review = { operation: "CREATE" as const, version: "v1beta1", user: { name: "alice", groups: [] }, object, dryRun: false, newUid: () => "uid", warn: () => {}, read: { get: () => undefined, mentions: () => false, list: () => [], written: () => [] } };

  expect(admission.validate?.({ ...review, cluster: "hub" })).toEqual([]);
  expect(admission.validate?.({ ...review, cluster: "member1" })).toHaveLength(1);
});
