import { expect, test } from "vitest";
import { manifestWith, patchAt, releaseOf } from "./release.ts";

const cloneSet = (apiVersion: string, updateStrategy: object) => ({
  apiVersion,
  kind: "CloneSet",
  metadata: { name: "web", namespace: "shop", uid: "1", resourceVersion: "7", managedFields: [] },
  spec: { replicas: 10, updateStrategy, template: { spec: { containers: [{ name: "web", image: "web:1" }] } } },
  status: { replicas: 10 },
});

const cases: Record<string, { object: object; want: object }> = {
  "v1alpha1 of CloneSet has the partition in updateStrategy": {
    object: cloneSet("apps.kruise.io/v1alpha1", { partition: 4 }),
    want: { partition: 4, partitionPath: ["spec", "updateStrategy", "partition"] },
  },
  "v1beta1 of CloneSet has it in rollingUpdate": {
    object: cloneSet("apps.kruise.io/v1beta1", { rollingUpdate: { partition: 4 } }),
    want: { partition: 4, partitionPath: ["spec", "updateStrategy", "rollingUpdate", "partition"] },
  },
  "a percentage is rounded up to pods": {
    object: cloneSet("apps.kruise.io/v1beta1", { rollingUpdate: { partition: "25%" } }),
    want: { partition: 3 },
  },
  "a partition above the replicas keeps all pods": {
    object: cloneSet("apps.kruise.io/v1beta1", { rollingUpdate: { partition: 99 } }),
    want: { partition: 10 },
  },
  "a Deployment has no partition, and can be paused": {
    object: { apiVersion: "apps/v1", kind: "Deployment", spec: { replicas: 4, paused: true } },
    want: { partitionPath: undefined, partition: 0, paused: true, pausedPath: ["spec", "paused"] },
  },
  "a ConfigMap has no release": {
    object: { apiVersion: "v1", kind: "ConfigMap", data: {} },
    want: { partitionPath: undefined, pausedPath: undefined, images: [] },
  },
};

for (const [name, { object, want }] of Object.entries(cases))
  test(name, () => {
    expect(releaseOf(object, 10)).toMatchObject(want);
  });

test("a patch sets one field and nothing else", () => {
  expect(patchAt(["spec", "updateStrategy", "partition"], 3)).toEqual({ spec: { updateStrategy: { partition: 3 } } });
});

test("a manifest to plan with keeps other fields and drops those of the server", () => {
  const object = cloneSet("apps.kruise.io/v1alpha1", { partition: 4, maxUnavailable: 2 });

  expect(manifestWith(object, ["spec", "updateStrategy", "partition"], 3)).toEqual({
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "CloneSet",
    metadata: { name: "web", namespace: "shop" },
    spec: { ...object.spec, updateStrategy: { partition: 3, maxUnavailable: 2 } },
  });
});
