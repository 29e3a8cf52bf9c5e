import { describe, expect, test } from "vitest";
import type { Cluster, ResourceBinding } from "@flotilla/karmada";
import type { Taint } from "@flotilla/apimachinery/facts/core-v1.ts";
import { makeBinding, makeCluster, makeDeployment } from "@flotilla/testing/builders.ts";
import { createFleet } from "../schedule/fleet-view.ts";
import { planTask, type Departure } from "./departure.ts";
import { replacementProblem } from "./find-replacement.ts";
import { parseSince, planApplicationFailover, planSinceRecord, WELL } from "./plan-application-failover.ts";
import { planClusterFailover } from "./plan-cluster-failover.ts";

const SECOND = 1000;
const NOW = Date.parse("2024-05-01T12:00:00Z");
type Health = "Healthy" | "Unhealthy" | "Unknown";

const bindingOf = (
  health: Record<string, Health>,
  change: (binding: ResourceBinding) => void = () => {},
): ResourceBinding =>
  makeBinding(makeDeployment("shop/web").replicas(4).build())
    .targets(Object.fromEntries(Object.keys(health).map((name) => [name, 4])))
    .with((binding) => {
      binding.spec.replicas = 4;
      binding.spec.failover = {
        application: { decisionConditions: { tolerationSeconds: 60 }, gracePeriodSeconds: 600 },
      };
      binding.status = {
        aggregatedStatus: Object.entries(health).map(([clusterName, value]) => ({ clusterName, health: value })),
      };
      change(binding);
    })
    .build();
const application = (binding: ResourceBinding, since: [string, number][] = []) =>
  planApplicationFailover(binding, new Map(since), "test", NOW);

describe("an application", () => {
  test("an application that becomes unhealthy starts its toleration", () => {
    expect(application(bindingOf({ oslo: "Unhealthy" }))).toEqual({
      since: new Map([["oslo", NOW]]),
      due: [],
      requeueAfterMs: 60 * SECOND,
    });
  });

  test("is evicted when the toleration expires, with the reason", () => {
    expect(application(bindingOf({ oslo: "Unhealthy" }), [["oslo", NOW - 60 * SECOND]]).due).toEqual([
      {
        cluster: "oslo",
        reason: "ApplicationFailure",
        message: "unhealthy on oslo since 2024-05-01T11:59:00Z, longer than the tolerated 60 s",
        producer: "test",
        purgeMode: "Gracefully",
        gracePeriodSeconds: 600,
      },
    ]);
  });

  test("an application that is healthy again restarts its toleration the next time", () => {
    expect(application(bindingOf({ oslo: "Healthy" }), [["oslo", NOW - 59 * SECOND]])).toEqual({
      since: WELL,
      due: [],
    });
  });

  test("an application with unknown health keeps its timer and is not moved", () => {
    expect(application(bindingOf({ oslo: "Unknown" }), [["oslo", NOW - 90 * SECOND]])).toEqual({
      since: new Map([["oslo", NOW - 90 * SECOND]]),
      due: [],
    });
    expect(application(bindingOf({ oslo: "Unknown" }))).toEqual({ since: WELL, due: [] });
  });

  test("an application that is being evicted from a cluster, or has left it, is not evicted again", () => {
    const leaving = bindingOf(
      { oslo: "Unhealthy" },
      ({ spec }) => (spec.gracefulEvictionTasks = [{ fromCluster: "oslo", reason: "Test", producer: "test" }]),
    );

    expect(application(leaving, [["oslo", 0]])).toEqual({ since: WELL, due: [] });
    expect(application(bindingOf({}), [["oslo", 0]])).toEqual({ since: WELL, due: [] });
  });

  test("whose policy does not enable failover is left alone", () => {
    expect(
      application(
        bindingOf({ oslo: "Unhealthy" }, ({ spec }) => delete spec.failover),
        [["oslo", 0]],
      ),
    ).toEqual({ since: WELL, due: [] });
  });
});

describe("the record of unhealthy periods", () => {
  test("is written once a period has lasted, not while a workload starts", () => {
    const since = new Map([["oslo", NOW]]);

    expect(planSinceRecord(since, undefined, NOW + 1 * SECOND)).toEqual({ requeueAfterMs: 4 * SECOND });
    expect(planSinceRecord(since, undefined, NOW + 5 * SECOND)).toEqual({ text: '{"oslo":"2024-05-01T12:00:00Z"}' });
    expect(planSinceRecord(since, '{"oslo":"2024-05-01T12:00:00Z"}', NOW + 60 * SECOND)).toEqual({});
  });

  test("is removed when everything is healthy", () => {
    expect(planSinceRecord(WELL, '{"oslo":"2024-05-01T12:00:00Z"}', NOW)).toEqual({ text: null });
    expect(planSinceRecord(WELL, undefined, NOW)).toEqual({});
  });

  test.each(["{", "[]", "null", '{"oslo":1}', '{"oslo":"yesterday"}'])("counts as empty for the value %s", (text) => {
    expect(parseSince(text).size).toBe(0);
  });

  test("accepts hostile names such as prototype keys", () => {
    expect([...parseSince('{"__proto__":"2024-05-01T12:00:00Z"}')]).toEqual([["__proto__", NOW]]);
  });
});

const drain = (fields: Partial<Taint> = {}): Taint => ({
  key: "drain",
  effect: "NoExecute",
  timeAdded: "2024-05-01T12:00:00Z",
  ...fields,
});
const tainted =
  (...taints: Taint[]): ((name: string) => Cluster) =>
  (name) =>
    makeCluster(name, ({ spec }) => (spec.taints = taints));
const asks = (change: (binding: ResourceBinding) => void = () => {}): ResourceBinding =>
  bindingOf({ oslo: "Healthy" }, (binding) => {
    binding.spec.failover = { cluster: { purgeMode: "Gracefully" } };
    change(binding);
  });

describe("a tainted cluster", () => {
  test("is left at once when its taint is not tolerated", () => {
    expect(planClusterFailover(asks(), tainted(drain()), undefined, NOW).due).toMatchObject([
      {
        cluster: "oslo",
        reason: "TaintUntolerated",
        producer: "TaintManager",
        purgeMode: "Gracefully",
        message: "the cluster has the taint drain:NoExecute, which the policy does not tolerate",
      },
    ]);
  });

  test("is left when the shortest toleration expires", () => {
    const tolerant = asks(
      ({ spec }) =>
        (spec.placement = {
          clusterTolerations: [
            { key: "drain", operator: "Exists", tolerationSeconds: 300 },
            { key: "repair", operator: "Exists", tolerationSeconds: 60 },
          ],
        }),
    );
    const both = tainted(drain(), drain({ key: "repair" }));

    expect(planClusterFailover(tolerant, both, undefined, NOW)).toEqual({ due: [], requeueAfterMs: 60 * SECOND });
    expect(planClusterFailover(tolerant, both, undefined, NOW + 60 * SECOND).due).toMatchObject([
      { message: "the cluster has the taint repair:NoExecute, and the policy's toleration has expired" },
    ]);
  });

  test.each([
    {
      behaviour: "whose taint is tolerated for ever",
      change: ({ spec }: ResourceBinding) => void (spec.placement = { clusterTolerations: [{ operator: "Exists" }] }),
      taint: drain(),
    },
    { behaviour: "that only takes nothing new", change: () => {}, taint: drain({ effect: "NoSchedule" }) },
    {
      behaviour: "that is being left already",
      change: ({ spec }: ResourceBinding) =>
        void (spec.gracefulEvictionTasks = [{ fromCluster: "oslo", reason: "Test", producer: "test" }]),
      taint: drain(),
    },
    {
      behaviour: "whose policy says nothing of it",
      change: ({ spec }: ResourceBinding) => void delete spec.failover,
      taint: drain(),
    },
  ])("is not left: one $behaviour", ({ change, taint }) => {
    expect(planClusterFailover(asks(change), tainted(taint), undefined, NOW)).toEqual({ due: [] });
  });

  test("is left without a policy setting when the hub's flag enables it", () => {
    expect(
      planClusterFailover(
        asks(({ spec }) => void delete spec.failover),
        tainted(drain()),
        { purgeMode: "Directly" },
        NOW,
      ).due,
    ).toMatchObject([{ purgeMode: "Directly" }]);
  });
});

const departure: Departure = {
  cluster: "oslo",
  reason: "ApplicationFailure",
  message: "it is ill",
  producer: "test",
  purgeMode: "Gracefully",
};

describe("the eviction task", () => {
  test("contains the clusters before the eviction", () => {
    expect(planTask(bindingOf({ oslo: "Unhealthy", rome: "Healthy" }), departure, NOW)).toEqual({
      task: {
        fromCluster: "oslo",
        purgeMode: "Gracefully",
        replicas: 4,
        reason: "ApplicationFailure",
        message: "it is ill",
        producer: "test",
        creationTimestamp: "2024-05-01T12:00:00Z",
        clustersBeforeFailover: ["oslo", "rome"],
      },
    });
  });

  test("keeps the copy indefinitely with purge mode Never", () => {
    expect(planTask(bindingOf({ oslo: "Unhealthy" }), { ...departure, purgeMode: "Never" }, NOW)).toMatchObject({
      task: { purgeMode: "Never", suppressDeletion: true },
    });
  });

  test("is not created while state that must be preserved cannot be read", () => {
    expect(
      planTask(
        bindingOf({ oslo: "Unhealthy" }),
        { ...departure, rules: [{ aliasLabelName: "a", jsonPath: "{.a}" }] },
        NOW,
      ),
    ).toEqual({ problem: "its status has not been collected yet, and state must be preserved" });
  });
});

describe("a replacement cluster", () => {
  const serving = (name: string, change: (cluster: Cluster) => void = () => {}): Cluster =>
    makeCluster(name, (cluster) => {
      cluster.status = {
        apiEnablements: [{ groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] }],
      } as never;
      change(cluster);
    });
  const task = (binding: ResourceBinding, reason: Departure["reason"] = "ApplicationFailure") => {
    const planned = planTask(binding, { ...departure, reason }, NOW);
    if (!("task" in planned)) throw new Error(planned.problem);
    return planned.task;
  };
  const divided = bindingOf(
    { oslo: "Unhealthy" },
    ({ spec }) =>
      (spec.placement = {
        replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" },
      }),
  );
  const duplicated = bindingOf({ oslo: "Unhealthy", rome: "Healthy" }, ({ spec }) => (spec.placement = {}));

  test("exists when another cluster would take the replicas", () => {
    expect(
      replacementProblem(divided, task(divided), { fleet: createFleet([serving("oslo"), serving("rome")]) }),
    ).toBeUndefined();
  });

  test("does not exist when no other cluster fits", () => {
    expect(replacementProblem(divided, task(divided), { fleet: createFleet([serving("oslo")]) })).toBe(
      "no other cluster fits: 0/1 clusters are available: 1 cluster(s) is in the process of eviction.",
    );
  });

  test("does not exist when every other cluster already has its copy, but a taint still evicts", () => {
    const fleet = createFleet([serving("oslo"), serving("rome")]);

    expect(replacementProblem(duplicated, task(duplicated), { fleet })).toBe(
      "no other cluster would run more replicas than now",
    );
    expect(replacementProblem(duplicated, task(duplicated, "TaintUntolerated"), { fleet })).toBeUndefined();
  });

  test("does not exist when its anti-affinity group occupies all clusters; an affinity group is not an obstacle", () => {
    const fleet = createFleet([serving("oslo"), serving("rome")]);

    expect(
      replacementProblem(divided, task(divided), { fleet, neighbours: { areAllOn: () => true, isTaken: () => true } }),
    ).toContain("cluster already has workload with the same anti-affinity group");
    expect(
      replacementProblem(divided, task(divided), {
        fleet,
        neighbours: { areAllOn: () => false, isTaken: () => false },
      }),
    ).toBeUndefined();
  });
});
