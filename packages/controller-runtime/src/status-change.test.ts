import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isStatusChange } from "./status-change.ts";

const metadata = { name: "web", uid: "u", generation: 2, labels: { app: "web" }, resourceVersion: "5" };
const object = (changed: object = {}): KubernetesObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { ...metadata, ...changed },
});

const cases: Record<string, { before?: KubernetesObject; now?: KubernetesObject; want: boolean }> = {
  "a write of the status is a status change": {
    before: object(),
    now: object({ resourceVersion: "6", managedFields: [{ manager: "kubelet", operation: "Update" }] }),
    want: true,
  },
  "a change of the spec is none": { before: object(), now: object({ generation: 3 }), want: false },
  "a change of a label is none": { before: object(), now: object({ labels: { app: "shop" } }), want: false },
  "a new object is none": { now: object(), want: false },
  "a deletion is none": { before: object(), want: false },
  "an object of the same name is none": { before: object(), now: object({ uid: "v" }), want: false },
  "a change of an object that is being deleted is none": {
    before: object({ deletionTimestamp: "2026-11-19T10:00:00Z" }),
    now: object({ deletionTimestamp: "2026-11-19T10:00:00Z", resourceVersion: "6" }),
    want: false,
  },
  "a kind without generations may have changed anywhere": {
    before: object({ generation: undefined }),
    now: object({ generation: undefined, resourceVersion: "6" }),
    want: false,
  },
};
for (const [behaviour, { before, now, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(isStatusChange(before, now)).toBe(want);
  });
}
