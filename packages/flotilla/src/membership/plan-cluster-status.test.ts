import { describe, expect, test } from "vitest";
import { makeCluster } from "@flotilla/testing/builders.ts";
import { planClusterStatus } from "./plan-cluster-status.ts";
import type { Observation } from "./plan-cluster-status.ts";

const NOW = "2024-05-01T12:00:00Z";
const NOW_MS = Date.parse(NOW);
const THRESHOLDS = { successMs: 30_000, failureMs: 30_000 };
const well: Observation = {
  probe: { health: "ready", detail: "" },
  facts: {
    version: "v1.36.3",
    apiEnablements: [{ groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] }],
    isComplete: true,
  },
  capacity: { nodeSummary: { totalNum: 2, readyNum: 1 }, resourceSummary: { allocatable: { cpu: "8" } } },
};
const plan = (
  cluster: Parameters<typeof planClusterStatus>[0],
  observation: Observation,
  sinceMs = NOW_MS,
): ReturnType<typeof planClusterStatus> =>
  planClusterStatus(cluster, observation, {
    trend: { isReady: observation.probe.health === "ready", sinceMs },
    thresholds: THRESHOLDS,
    nowMs: NOW_MS,
  });

describe("a member that answers", () => {
  const cluster = plan(makeCluster("paris"), well);

  test("is Ready, with its version, kinds, nodes and resources", () => {
    expect(cluster.status).toMatchObject({
      kubernetesVersion: "v1.36.3",
      apiEnablements: [{ groupVersion: "apps/v1" }],
      nodeSummary: { totalNum: 2, readyNum: 1 },
      resourceSummary: { allocatable: { cpu: "8" } },
      conditions: [
        { type: "Ready", status: "True", reason: "ClusterReady" },
        { type: "CompleteAPIEnablements", status: "True", reason: "Complete" },
      ],
    });
  });

  test("is returned unchanged when nothing changed, so that nothing is written", () => {
    expect(plan(cluster, well)).toBe(cluster);
  });

  test("stays Ready until it has been unreachable for the threshold, and does not respond when a second probe has no answer", () => {
    const unreachable: Observation = { probe: { health: "unreachable", detail: "no route" }, unanswered: 2 };
    const conditionsOf = ({ status }: typeof cluster): unknown[] =>
      (status?.conditions ?? []).map(({ type, status: is }) => `${type} ${is}`);

    const silent = plan(cluster, unreachable, NOW_MS - 1_000);

    expect(plan(cluster, { ...unreachable, unanswered: 1 }, NOW_MS - 1_000)).toBe(cluster);
    expect(conditionsOf(silent)).toEqual(["Ready True", "CompleteAPIEnablements True", "Responding False"]);
    expect(plan(silent, unreachable, NOW_MS - 29_999)).toBe(silent);
    expect(plan(silent, well)).toEqual(cluster);
  });

  test("responds while its health endpoint reports an error", () => {
    const unhealthy: Observation = { probe: { health: "unhealthy", detail: "it answered 500" } };

    expect(plan(cluster, unhealthy, NOW_MS - 5_000)).toBe(cluster);
  });

  test("is not usable from the first probe on that it rejects the hub's credentials", () => {
    const rejecting: Observation = {
      probe: { health: "unauthorized", detail: "cluster paris rejects the hub's token" },
    };

    const rejected = plan(cluster, rejecting, NOW_MS - 1_000);

    expect(rejected.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: "Responding",
        status: "False",
        message: expect.stringContaining("cluster paris rejects the hub's token"),
      }),
    );
    expect(plan(rejected, well)).toEqual(cluster);
  });

  test("is not ready after that, and keeps its last known facts", () => {
    const lost = plan(cluster, { probe: { health: "unreachable", detail: "no route" } }, NOW_MS - 30_000);

    expect(lost.status).toMatchObject({ kubernetesVersion: "v1.36.3", nodeSummary: { totalNum: 2 } });
    expect(lost.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: "Ready",
        status: "False",
        reason: "ClusterNotReachable",
        message: "cluster is not reachable: no route",
      }),
    );
  });

  test("is written once per outage, regardless of the wording of failures", () => {
    const lost = plan(cluster, { probe: { health: "unreachable", detail: "no route" } }, NOW_MS - 30_000);

    expect(plan(lost, { probe: { health: "unreachable", detail: "connection refused" } }, NOW_MS - 40_000)).toBe(lost);
  });

  test("states that the hub has cut it off, whatever the outage began with, and the other reason after that", () => {
    const cutOff = "cluster paris is cut off, because it exceeded a limit: the response is longer than 4194304 bytes";
    const lost = plan(cluster, { probe: { health: "unreachable", detail: "no route" } }, NOW_MS - 30_000);
    const readyOf = ({ status }: typeof lost): string | undefined =>
      status?.conditions?.find(({ type }) => type === "Ready")?.message;

    const cut = plan(lost, { probe: { health: "unreachable", detail: cutOff } }, NOW_MS - 40_000);
    const again = plan(cut, { probe: { health: "unreachable", detail: `${cutOff} or more` } }, NOW_MS - 50_000);
    const after = plan(cut, { probe: { health: "unreachable", detail: "connection refused" } }, NOW_MS - 60_000);

    expect(readyOf(cut)).toBe(`cluster is not reachable: ${cutOff}`);
    expect(again).toBe(cut);
    expect(plan(cut, well, NOW_MS - 1_000)).toBe(cut);
    expect(readyOf(after)).toBe("cluster is not reachable: connection refused");
  });

  test("states that it answers again until it is ready, once, and the cause if it then fails again", () => {
    const failing: Observation = { probe: { health: "unreachable", detail: "no route" } };
    const lost = plan(cluster, failing, NOW_MS - 30_000);
    const readyOf = ({ status }: typeof lost): unknown => status?.conditions?.find(({ type }) => type === "Ready");

    const answering = plan(lost, well, NOW_MS - 1_000);

    expect(readyOf(answering)).toMatchObject({
      status: "False",
      reason: "ClusterNotReachable",
      message: "cluster answers again; it is ready after it has answered for 30 s",
    });
    expect(plan(answering, well, NOW_MS - 29_999)).toBe(answering);
    expect(readyOf(plan(answering, failing))).toMatchObject({ message: "cluster is not reachable: no route" });
    expect(readyOf(plan(answering, well, NOW_MS - 30_000))).toMatchObject({ status: "True" });
  });

  test("must answer for the success threshold after an outage before it is ready, and is not collected until then", () => {
    const lost = plan(cluster, { probe: { health: "unreachable", detail: "no route" } }, NOW_MS - 30_000);
    const upgraded: Observation = { ...well, facts: { version: "v1.37.0", apiEnablements: [], isComplete: true } };

    expect(plan(lost, upgraded, NOW_MS - 29_999).status).toMatchObject({ kubernetesVersion: "v1.36.3" });
    expect(plan(lost, upgraded, NOW_MS - 30_000).status).toMatchObject({ kubernetesVersion: "v1.37.0" });
  });
});

test("an unhealthy member that answers is distinguished from an unreachable one", () => {
  const unhealthy = plan(makeCluster("paris"), { probe: { health: "unhealthy", detail: "it answered 500" } });

  expect(unhealthy.status?.conditions).toMatchObject([{ type: "Ready", status: "False", reason: "ClusterNotReady" }]);
});

test("a member without a usable connection reports the reason", () => {
  const unknown = plan(makeCluster("paris"), { probe: { health: "uncollected", detail: "the Secret is missing" } });

  expect(unknown.status?.conditions).toMatchObject([
    {
      type: "Ready",
      status: "False",
      reason: "StatusCollectionFailed",
      message: "failed to create a ClusterClient: the Secret is missing",
    },
  ]);
});

const enablements: Record<string, { facts: NonNullable<Observation["facts"]>; want: object }> = {
  "a member with incomplete discovery has partial enablements": {
    facts: { version: "v1.36.3", apiEnablements: [{ groupVersion: "v1", resources: [] }], isComplete: false },
    want: { status: "False", reason: "Partial", message: "might collect partial APIEnablements(1) from the cluster" },
  },
  "a member that serves nothing has empty enablements": {
    facts: { version: "v1.36.3", apiEnablements: [], isComplete: true },
    want: { status: "False", reason: "Empty" },
  },
};
for (const [behaviour, { facts, want }] of Object.entries(enablements)) {
  test(behaviour, () => {
    const cluster = plan(makeCluster("paris"), { ...well, facts });

    expect(cluster.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "CompleteAPIEnablements", ...want }),
    );
  });
}
