import { expect, test } from "vitest";
import type { Json } from "@flotilla/base";
import { isHarmless } from "./judge.ts";
import type { Live } from "./member-reader.ts";

const live = (status: object): Live =>
  ({
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "CloneSet",
    metadata: { name: "web", generation: 2 },
    status,
  }) as unknown as Live;
const rolledOut = live({ observedGeneration: 2, replicas: 4, updatedReplicas: 4 });
const midRelease = live({ observedGeneration: 2, replicas: 4, updatedReplicas: 1 });
const unseen = live({ observedGeneration: 1, replicas: 4, updatedReplicas: 4 });

const PARTITION = "spec.updateStrategy.rollingUpdate.partition";
const cases: Record<
  string,
  { path: string; before?: Json; after?: Json; object: Live; isAutoscaled?: boolean; want: boolean }
> = {
  "a label of the object": { path: "metadata.labels.team", object: midRelease, want: true },
  "a budget": { path: "spec.updateStrategy.maxUnavailable", before: "20%", after: 1, object: midRelease, want: true },
  "a scaling budget": {
    path: "spec.scaleStrategy.maxUnavailable",
    before: 3,
    after: 2,
    object: midRelease,
    want: true,
  },
  "the pod template": { path: "spec.template.spec.containers.0.image", object: rolledOut, want: false },
  replicas: { path: "spec.replicas", before: 4, after: 3, object: rolledOut, want: false },
  "replicas managed by an autoscaler": {
    path: "spec.replicas",
    before: 4,
    after: 3,
    object: rolledOut,
    isAutoscaled: true,
    want: true,
  },
  ordinals: { path: "spec.reserveOrdinals", object: rolledOut, want: false },
  "the data of a ConfigMap": { path: "data.mode", object: rolledOut, want: false },
  "an unknown field": { path: "spec.updateStrategy.newField", object: rolledOut, want: false },
  "a partition when nothing is being updated": { path: PARTITION, before: 3, after: 0, object: rolledOut, want: true },
  "a partition in the middle of a release": { path: PARTITION, before: 3, after: 2, object: midRelease, want: false },
  "a partition that the controller has not observed": {
    path: PARTITION,
    before: 3,
    after: 2,
    object: unseen,
    want: false,
  },
  "a partition that holds back the same pods, written differently": {
    path: PARTITION,
    before: 4,
    after: "100%",
    object: midRelease,
    want: true,
  },
  "a partition that is not a number": { path: PARTITION, before: "some", after: 4, object: midRelease, want: false },
};
for (const [what, { path, before, after, object, isAutoscaled, want }] of Object.entries(cases)) {
  test(`${what} ${want ? "leaves what runs as it is" : "may change what runs"}`, () => {
    const difference = { steps: path.split("."), before, after };

    expect(isHarmless(difference, { object, isAutoscaled: isAutoscaled || undefined })).toBe(want);
  });
}
