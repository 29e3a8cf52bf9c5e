import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { outdatedPodsOf } from "./outdated-pods.ts";

const owner = (spec: JsonObject = {}, status: JsonObject = {}, kind = "StatefulSet"): JsonObject => ({
  kind,
  metadata: { name: "web", uid: "u1", generation: 3 },
  spec,
  status: { observedGeneration: 3, updateRevision: "web-new", ...status },
});
const pod = (label: string, name = "web-1", uid = "u1"): JsonObject => ({
  metadata: { name, labels: { "controller-revision-hash": label }, ownerReferences: [{ uid, kind: "StatefulSet" }] },
});
const partition = (count: number, more: JsonObject = {}): JsonObject => ({
  updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: count } },
  ...more,
});

const cases: Record<string, { owner?: JsonObject; pod?: JsonObject; want: boolean }> = {
  "a pod of an older revision stays in an OrderedReady StatefulSet": { want: true },
  "a pod of the newest revision does not": { pod: pod("web-new"), want: false },
  "a label with the hash alone is the newest revision": { pod: pod("new"), want: false },
  "a pod without the label is not judged": { pod: pod(""), want: false },
  "a pod of another owner is not judged": { pod: pod("web-old", "web-1", "u2"), want: false },
  "a Parallel StatefulSet replaces the pod": { owner: owner({ podManagementPolicy: "Parallel" }), want: false },
  "a StatefulSet with OnDelete replaces no pod, also if it is Parallel": {
    owner: owner({ podManagementPolicy: "Parallel", updateStrategy: { type: "OnDelete" } }),
    want: true,
  },
  "a pod below the partition is created from the older template again": { owner: owner(partition(2)), want: false },
  "a pod from the partition on is created from the newest one": { owner: owner(partition(1)), want: true },
  "ordinals may start later": {
    owner: owner(partition(1, { ordinals: { start: 5 } })),
    pod: pod("web-old", "web-5"),
    want: false,
  },
  "a status of an earlier generation is not judged": { owner: owner({}, { observedGeneration: 2 }), want: false },
  "a status without a revision is not judged": { owner: owner({}, { updateRevision: "" }), want: false },
  "a DaemonSet with OnDelete replaces no pod": {
    owner: owner({ updateStrategy: { type: "OnDelete" } }, { updateRevision: "", daemonSetHash: "new" }, "DaemonSet"),
    want: true,
  },
  "a DaemonSet with RollingUpdate replaces the pod": { owner: owner({}, {}, "DaemonSet"), want: false },
  "a CloneSet replaces the pod": { owner: owner({}, {}, "CloneSet"), want: false },
};
for (const [behaviour, { owner: of = owner(), pod: found = pod("web-old"), want }] of Object.entries(cases)) {
  test(behaviour, () => expect(outdatedPodsOf(of)(found)).toBe(want));
}
