import { expect, test } from "vitest";
import type { Work } from "@flotilla/karmada";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { countUpdated, planReleased, withReleaseProgress, withReleaseRevisions } from "./count-release.ts";
import type { ReleaseStanding } from "./count-release.ts";

const NOW = "2024-05-01T12:00:00Z";
const release = (state: ReleaseStanding["state"]): ReleaseStanding => ({
  name: "web-2",
  previous: "web-1",
  state,
  message: "FleetRollout web-2 says so",
  isCurrent: (_cluster, step) => step === "web-2@all",
});
const work = (cluster: string, step?: string): Work =>
  ({
    metadata: { name: "web", namespace: `karmada-es-${cluster}` },
    status: { conditions: step === undefined ? [] : [{ type: "ReleaseObserved", status: "True", message: step }] },
  }) as unknown as Work;

test("pods of a copy with another revision are not updated, whatever was assigned since", () => {
  const status = { replicas: 2, updatedReplicas: 2, updatedReadyReplicas: 1, updateRevision: "abc" };
  const items = ["oslo", "paris", "rome"].map((clusterName) => ({ clusterName, status }));

  const counted = countUpdated(
    items,
    [work("oslo", "web-2@all"), work("paris", "web-1@all"), work("rome")],
    release("Waiting"),
  );

  expect(counted.map((item) => item.status)).toEqual([
    status,
    { replicas: 2, updatedReplicas: 0, updatedReadyReplicas: 0, updateRevision: "abc" },
    { replicas: 2, updatedReplicas: 0, updatedReadyReplicas: 0, updateRevision: "abc" },
  ]);
});

const done = { conditions: [{ type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" }] };
const stuck = { conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }] };
const progress: Record<string, { state: ReleaseStanding["state"]; status: object; want: unknown }> = {
  "a release that is in progress is not done": {
    state: "Progressing",
    status: done,
    want: ["True", "ReleaseProgressing"],
  },
  "one that waits is neither done nor failed": { state: "Waiting", status: done, want: ["Unknown", "ReleaseWaiting"] },
  "one that was rolled back has failed": {
    state: "RolledBack",
    status: done,
    want: ["False", "ProgressDeadlineExceeded"],
  },
  "one that failed says so also where members report nothing": {
    state: "Failed",
    status: {},
    want: ["False", "ProgressDeadlineExceeded"],
  },
  "what a member reports as wrong stays": {
    state: "Waiting",
    status: stuck,
    want: ["False", "ProgressDeadlineExceeded"],
  },
  "one that is complete is as its members say": {
    state: "Succeeded",
    status: done,
    want: ["True", "NewReplicaSetAvailable"],
  },
};
for (const [behaviour, { state, status, want }] of Object.entries(progress)) {
  test(behaviour, () => {
    const { conditions } = withReleaseProgress(status as never, release(state)) as {
      conditions: { status: string; reason: string }[];
    };

    expect(conditions.map((each) => [each.status, each.reason])).toEqual([want]);
  });
}

test("the condition of a binding ends with the release, and a binding without one is returned as it is", () => {
  const template = makeDeployment("shop/web").build();
  const binding = makeBinding(template).build();

  const released = planReleased(binding, template, release("Waiting"), NOW);

  expect(planReleased(binding, template, undefined, NOW)).toBe(binding);
  expect(planReleased(released, template, release("Waiting"), NOW)).toBe(released);
  expect(released.status?.conditions).toMatchObject([{ type: "Released", status: "False", reason: "Waiting" }]);
  expect(planReleased(released, template, undefined, NOW).status?.conditions).toEqual([]);
});

test("a StatefulSet whose release ended with its strategy has no two revisions left", () => {
  const set = { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "web" }, status: { replicas: 1 } };

  const during = withReleaseRevisions(set, release("Waiting"));

  expect(during).toMatchObject({ status: { replicas: 1, currentRevision: "web-1", updateRevision: "web-2" } });
  expect(withReleaseRevisions(during, release("Succeeded"))).toMatchObject({
    status: { currentRevision: "web-2", updateRevision: "web-2" },
  });
  expect(withReleaseRevisions(during, undefined)).toEqual(set);
});
