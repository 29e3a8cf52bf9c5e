import { expect, test } from "vitest";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import type { Failure } from "../members/each-place.ts";
import type { Place } from "../members/members-places.ts";
import { reportedProgress } from "./wait-applied.ts";

const template = makeDeployment("shop/web").build();
const binding = {
  ...makeBinding(template).targets({ oslo: 1 }).build(),
  status: { aggregatedStatus: [{ clusterName: "oslo", applied: true, health: "Healthy" as const }] },
};
const place = (more: Partial<Place> = {}): Place => ({ name: "oslo", prefix: "", mode: "pull", ...more });

const cases: Record<string, { failure: Failure; reason?: string }> = {
  "a pull-mode member counts as it reports": { failure: { place: place(), reason: "no way", isOutOfReach: true } },
  "a member that may not be accessed counts as it reports": {
    failure: { place: place({ mode: "push" }), reason: "forbidden" },
  },
  "a member that does not respond is not healthy, whatever it last reported": {
    failure: { place: place({ mode: "push" }), reason: "no response within 10 s", isAway: true },
    reason: "it cannot be read: no response within 10 s",
  },
  "a pull-mode member that stopped reporting is not healthy": {
    failure: { place: place({ unready: "its agent is silent" }), reason: "no way", isOutOfReach: true },
    reason: "it cannot be read: no way",
  },
};
for (const [behaviour, { failure, reason }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(reportedProgress(template, binding, failure)).toEqual({ cluster: "oslo", reason });
  });
}

test("a Job that failed on a member that cannot be read is final", () => {
  const job = { apiVersion: "batch/v1", kind: "Job", metadata: { namespace: "shop", name: "run" } };
  const conditions = [{ type: "Failed", status: "True", reason: "BackoffLimitExceeded" }];
  const reported = {
    ...binding,
    status: {
      aggregatedStatus: [{ clusterName: "oslo", applied: true, health: "Unknown" as const, status: { conditions } }],
    },
  };

  expect(reportedProgress(job, reported, { place: place(), reason: "no way", isOutOfReach: true })).toEqual({
    cluster: "oslo",
    reason: "it failed: BackoffLimitExceeded",
    final: "run",
  });
});

test("a new pod that does not start beside a ready one is not healthy, although the rule of the kind says so", () => {
  const status = { replicas: 2, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1 };
  const reported = {
    ...binding,
    status: { aggregatedStatus: [{ clusterName: "oslo", applied: true, health: "Healthy" as const, status }] },
  };

  expect(reportedProgress(template, reported, { place: place(), reason: "no way", isOutOfReach: true })).toEqual({
    cluster: "oslo",
    reason: "1 of 2 pods is not ready",
  });
});

test("a budget without pods is not waited for, although its rule calls it unhealthy", () => {
  const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { namespace: "shop", name: "web" } };
  const status = { currentHealthy: 0, desiredHealthy: 1, expectedPods: 0 };
  const reported = {
    ...binding,
    status: { aggregatedStatus: [{ clusterName: "oslo", applied: true, health: "Unhealthy" as const, status }] },
  };

  expect(reportedProgress(budget, reported, { place: place(), reason: "no way", isOutOfReach: true })).toEqual({
    cluster: "oslo",
  });
});
