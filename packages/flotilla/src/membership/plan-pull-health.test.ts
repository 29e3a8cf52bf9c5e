import { expect, test } from "vitest";
import type { Cluster } from "@flotilla/karmada";
import { nextHeartbeat, planPullHealth, PULL_TIMES } from "./plan-pull-health.ts";

const CREATED_MS = Date.UTC(2024, 4, 1, 12);
const SECOND_MS = 1_000;

function makeCluster(ready?: { status: "True" | "False" | "Unknown"; lastTransitionTime: string }): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "paris", creationTimestamp: "2024-05-01T12:00:00Z" },
    spec: { syncMode: "Pull" },
    status: ready ? { conditions: [{ type: "Ready", reason: "R", message: "", ...ready }] } : undefined,
  };
}
const well = makeCluster({ status: "True", lastTransitionTime: "2024-05-01T12:00:10Z" });

test("a member whose agent never reported becomes Unknown one minute after its creation", () => {
  const heartbeat = nextHeartbeat(undefined, makeCluster(), undefined, CREATED_MS + 20 * SECOND_MS);

  expect(planPullHealth(makeCluster(), heartbeat, PULL_TIMES, CREATED_MS + 20 * SECOND_MS)).toEqual({
    waitMs: 40 * SECOND_MS,
  });
  expect(planPullHealth(makeCluster(), heartbeat, PULL_TIMES, CREATED_MS + 60 * SECOND_MS).condition).toMatchObject({
    status: "Unknown",
    reason: "ClusterStatusNeverUpdated",
  });
});

test("a member becomes Unknown 40 s after its agent's last heartbeat, by the hub's clock", () => {
  const first = nextHeartbeat(undefined, well, "2030-01-01T00:00:00.000000Z", CREATED_MS);
  const renewed = nextHeartbeat(first, well, "1999-01-01T00:00:00.000000Z", CREATED_MS + 10 * SECOND_MS);

  expect(nextHeartbeat(renewed, well, "1999-01-01T00:00:00.000000Z", CREATED_MS + 30 * SECOND_MS)).toBe(renewed);
  expect(planPullHealth(well, renewed, PULL_TIMES, CREATED_MS + 40 * SECOND_MS)).toEqual({ waitMs: 10 * SECOND_MS });
  expect(planPullHealth(well, renewed, PULL_TIMES, CREATED_MS + 50 * SECOND_MS).condition).toMatchObject({
    status: "Unknown",
    reason: "ClusterStatusUnknown",
  });
});

test("the hub's own Unknown condition does not count as a heartbeat, and is written once", () => {
  const unknown = makeCluster({ status: "Unknown", lastTransitionTime: "2024-05-01T12:01:00Z" });
  const before = nextHeartbeat(undefined, well, "t", CREATED_MS);

  const after = nextHeartbeat(before, unknown, "t", CREATED_MS + 60 * SECOND_MS);

  expect(after.atMs).toBe(CREATED_MS);
  expect(planPullHealth(unknown, after, PULL_TIMES, CREATED_MS + 90 * SECOND_MS)).toEqual({});
});
