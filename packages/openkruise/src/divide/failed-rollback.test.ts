import { expect, test } from "vitest";
import type { Share } from "@flotilla/kubernetes";
import { failedRollback, failedRollbacks } from "./failed-rollback.ts";
import { ROLLOUT_STAGE } from "./release.ts";

const BACKWARD = "9f86d081884c7d65/9@1/5-";
const shareWith = (stage: string, status: object): Share => ({
  cluster: "oslo",
  replicas: 5,
  copy: {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "CloneSet",
    metadata: { name: "web", annotations: { [ROLLOUT_STAGE]: stage } },
  },
  observed: { replicas: 5, observedGeneration: 3, generation: 3, rolloutStage: stage, ...status },
});

const cases: Record<string, { stage?: string; status: object; want: number | undefined }> = {
  "a member that works towards the asked number has not failed": {
    status: { expectedUpdatedReplicas: 1, updatedReplicas: 5 },
    want: undefined,
  },
  "a member that works towards fewer pods has failed": { status: { expectedUpdatedReplicas: 0 }, want: 0 },
  "a member that works towards more pods has failed": { status: { expectedUpdatedReplicas: 5 }, want: 5 },
  "a member that has not observed the copy has not failed": {
    status: { expectedUpdatedReplicas: 0, observedGeneration: 2 },
    want: undefined,
  },
  "a member that reports on another copy has not failed": {
    status: { expectedUpdatedReplicas: 0, rolloutStage: "9f86d081884c7d65/9@1/5" },
    want: undefined,
  },
  "a member that an autoscaler made smaller keeps as many pods as it has": {
    stage: "9f86d081884c7d65/5@3/5-",
    status: { expectedUpdatedReplicas: 2, replicas: 2 },
    want: undefined,
  },
  "a member that does not report its target has failed when its pods show it": {
    status: { updatedReplicas: 0 },
    want: 0,
  },
  "a member that does not report its target has not failed while pods are missing": {
    status: { updatedReplicas: 0, replicas: 4 },
    want: undefined,
  },
  "a forward copy is not a rollback": {
    stage: "9f86d081884c7d65/9@1/5",
    status: { expectedUpdatedReplicas: 5 },
    want: undefined,
  },
};
test.each(Object.entries(cases))("%s", (_name, { stage = BACKWARD, status, want }) => {
  expect(failedRollback(shareWith(stage, status))?.expected).toBe(want);
});

test("another copy is another attempt", () => {
  const share = shareWith(BACKWARD, { expectedUpdatedReplicas: 0 });
  const copies = (of: Share) => new Map(of.copy ? [["oslo", of.copy]] : []);

  expect(failedRollbacks(copies(share), [share])).toEqual([{ cluster: "oslo", asked: 1, expected: 0 }]);
  expect(failedRollbacks(copies(shareWith("9f86d081884c7d65/8@2/5", {})), [share])).toEqual([]);
});
