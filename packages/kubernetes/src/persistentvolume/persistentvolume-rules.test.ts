import { expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type PersistentVolume } from "./persistentvolume-kind.ts";
import { rules } from "./persistentvolume-rules.ts";

const volume = (spec: object): PersistentVolume => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "v" },
  spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], ...spec },
});
const hostPath = { path: "/x" };

test("a PersistentVolume gets all defaults", () => {
  expect(completedBy(rules, volume({ hostPath })).spec).toMatchObject({
    persistentVolumeReclaimPolicy: "Retain",
    volumeMode: "Filesystem",
    hostPath: { path: "/x", type: "" },
  });
});

const refused: Record<string, [spec: object, want: string[]]> = {
  "a volume without a source": [{}, ["spec: Required value: must specify a volume type"]],
  "two sources": [
    { hostPath, nfs: { server: "s", path: "/" } },
    ["spec.nfs: Forbidden: may not specify more than 1 volume type"],
  ],
  "no capacity": [
    { hostPath, capacity: undefined },
    ["spec.capacity: Required value", 'spec.capacity: Unsupported value: null: supported values: "storage"'],
  ],
  "a negative capacity": [
    { hostPath, capacity: { storage: "-1" } },
    [
      "spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
      'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
    ],
  ],
  "a local volume without node affinity": [
    { local: { path: "/x" } },
    ["spec.nodeAffinity: Required value: Local volume requires node affinity"],
  ],
  "a CSI driver without a volume handle": [
    { csi: {} },
    ["spec.csi.driver: Required value", "spec.csi.volumeHandle: Required value"],
  ],
  "the Recycle policy with the root of a host path": [
    { hostPath: { path: "//" }, persistentVolumeReclaimPolicy: "Recycle" },
    ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
  ],
  "ReadWriteOncePod with other access modes": [
    { hostPath, accessModes: ["ReadWriteOnce", "ReadWriteOncePod"] },
    ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
  ],
};
for (const [what, [spec, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf(rules, volume(spec))).toEqual(want);
  });
}

test("the source of a volume is immutable, and the error names the changed fields", () => {
  const old = completedBy(rules, volume({ hostPath }));

  const [problem] = problemsOf(rules, volume({ hostPath: { path: "/y" } }), old);

  expect(problem).toBe(
    "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation; changed: `spec.hostPath.path`",
  );
});

test("controllerExpandSecretRef may be added later", () => {
  const csi = { driver: "d.x", volumeHandle: "h" };
  const old = completedBy(rules, volume({ csi }));

  expect(
    problemsOf(rules, volume({ csi: { ...csi, controllerExpandSecretRef: { name: "s", namespace: "n" } } }), old),
  ).toEqual([]);
});

test("warns of volume types without a driver", () => {
  expect(warningsOf(rules, volume({ rbd: { monitors: ["m"], image: "i" } }))).toEqual([
    "spec.rbd: deprecated in v1.28, non-functional in v1.31+",
  ]);
});
