import { expect, test } from "vitest";
import type { ResourceBinding } from "@flotilla/karmada";
import { makeBinding, makeCloneSet } from "@flotilla/testing/builders.ts";
import { changesWorkloads, planWorkloads } from "./plan-workloads.ts";

const binding = (type: "Divided" | "Duplicated", statuses: Record<string, object> = {}): ResourceBinding => {
  const made = makeBinding(makeCloneSet("shop/web").build()).targets({ oslo: 3, paris: 2 }).build();
  made.spec.placement = { replicaScheduling: { replicaSchedulingType: type } };
  const aggregatedStatus = Object.entries(statuses).map(([clusterName, status]) => ({ clusterName, status }));
  return { ...made, status: { aggregatedStatus } } as ResourceBinding;
};

test("the workloads of a member are counted with the replicas that it was assigned", () => {
  expect(Object.fromEntries(planWorkloads([binding("Divided"), binding("Duplicated")]))).toEqual({
    oslo: { replicas: 6, unsettled: 0, isWhole: false },
    paris: { replicas: 4, unsettled: 0, isWhole: false },
  });
  expect(planWorkloads([binding("Duplicated")]).get("oslo")).toEqual({ replicas: 3, unsettled: 0, isWhole: true });
});

const unsettled: Record<string, { status: object; want: number }> = {
  "pods that run the previous template": {
    status: { replicas: 3, availableReplicas: 3, updatedReplicas: 1, expectedUpdatedReplicas: 3 },
    want: 2,
  },
  "updated pods that are not available yet": {
    status: { replicas: 3, availableReplicas: 2, updatedReplicas: 3, expectedUpdatedReplicas: 3 },
    want: 1,
  },
  "no pods that a partition holds back": {
    status: { replicas: 3, availableReplicas: 3, updatedReplicas: 1, expectedUpdatedReplicas: 1 },
    want: 0,
  },
  "no pods of a kind that counts none": { status: { ready: 1 }, want: 0 },
};
for (const [what, { status, want }] of Object.entries(unsettled)) {
  test(`a member has ${what} to settle`, () => {
    expect(planWorkloads([binding("Divided", { oslo: status })]).get("oslo")?.unsettled).toBe(want);
  });
}

test("a status that leaves replicas and unsettled pods as they are changes nothing", () => {
  const status = { replicas: 3, availableReplicas: 3, updatedReplicas: 3 };
  const before = binding("Divided", { oslo: status });

  expect(changesWorkloads(before, binding("Divided", { oslo: { ...status, readyReplicas: 3 } }))).toBe(false);
  expect(changesWorkloads(before, binding("Divided", { oslo: { ...status, updatedReplicas: 0 } }))).toBe(true);
  expect(changesWorkloads(before, binding("Duplicated", { oslo: status }))).toBe(true);
});
