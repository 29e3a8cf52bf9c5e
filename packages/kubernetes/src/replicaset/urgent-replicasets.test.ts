import { describe, expect, test } from "vitest";
import { ReplicaSet } from "./replicaset-kind.ts";
import type { Pod } from "../pod/pod-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectEvent } from "@flotilla/controller-runtime";
import { createUrgent } from "./urgent-replicasets.ts";

const KEY = { cluster: "paris", namespace: "shop", name: "web" };
const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u-web", controller: true };

function makePod(status: Pod["status"] = {}, metadata: Partial<Pod["metadata"]> = {}): DeepReadonly<Pod> {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "shop", uid: "u-p", ownerReferences: [owner], ...metadata },
    spec: { containers: [] },
    status,
  };
}
const makeSet = (generation: number, replicas = 0): DeepReadonly<ReplicaSet> => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: { name: "web", namespace: "shop", generation },
  spec: { selector: {} },
  status: { replicas },
});

/** Whether a ReplicaSet is urgent after this change. */
function isUrgentAfter(kind: "Pod" | "ReplicaSet", event: Omit<ObjectEvent, "cluster">): boolean {
  const urgent = createUrgent(ReplicaSet);
  for (const request of urgent.watches)
    if (request.kind.kind === kind) Array.from(request.map({ cluster: "paris", ...event }));
  return urgent.has(KEY);
}

const going = { deletionTimestamp: "2024-05-01T12:00:00Z" };
const cases: Record<string, { event: Omit<ObjectEvent, "cluster">; want: boolean }> = {
  "a new pod is urgent": { event: { object: makePod(), deleted: false }, want: true },
  "a pod that becomes ready is not urgent": {
    event: { object: makePod({ phase: "Running" }), old: makePod(), deleted: false },
    want: false,
  },
  "a pod that fails is urgent": {
    event: { object: makePod({ phase: "Failed" }), old: makePod(), deleted: false },
    want: true,
  },
  "a pod that starts terminating is urgent": {
    event: { object: makePod({}, going), old: makePod(), deleted: false },
    want: true,
  },
  "the removal of a terminating pod is not urgent": {
    event: { object: makePod({}, going), old: makePod({}, going), deleted: true },
    want: false,
  },
  "the sudden removal of a pod is urgent": {
    event: { object: makePod(), old: makePod(), deleted: true },
    want: true,
  },
  "a pod whose owner reference was removed is urgent": {
    event: { object: makePod({}, { ownerReferences: [] }), old: makePod(), deleted: false },
    want: true,
  },
  "a pod of another owner is ignored": {
    event: { object: makePod({}, { ownerReferences: [{ ...owner, apiVersion: "example.com/v1" }] }), deleted: false },
    want: false,
  },
};
describe("a ReplicaSet with a delayed status", () => {
  for (const [behaviour, { event, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(isUrgentAfter("Pod", event)).toBe(want);
    });
  }

  test("is urgent after a spec change, and not after a status change", () => {
    expect(isUrgentAfter("ReplicaSet", { object: makeSet(2), old: makeSet(1), deleted: false })).toBe(true);
    expect(isUrgentAfter("ReplicaSet", { object: makeSet(1, 5), old: makeSet(1), deleted: false })).toBe(false);
  });
});
