import { describe, expect, test } from "vitest";
import type { ManifestWork, ManifestWorkReplicaSet, OcmPlacement } from "@flotilla/ocm";
import type { RolloutStrategy } from "@flotilla/apimachinery/facts/cluster-ocm-v1alpha1.ts";
import { findCondition } from "@flotilla/apimachinery";
import { workFor } from "./child-works.ts";
import type { Decided, Verdict } from "./decided.ts";
import { planReplicaSet, type ReplicaSetInput, type ReplicaSetPlan } from "./plan-replica-set.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const CONFIG_MAP = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web", namespace: "shop" } };
const CONCURRENT: RolloutStrategy = { type: "Progressive", progressive: { maxConcurrency: 2 } };

const setOf = (rolloutStrategy: RolloutStrategy | undefined, ...placements: string[]): ManifestWorkReplicaSet => ({
  apiVersion: "work.open-cluster-management.io/v1alpha1",
  kind: "ManifestWorkReplicaSet",
  metadata: { name: "web", namespace: "shop", generation: 1, labels: { team: "a" } },
  spec: {
    cascadeDeletionPolicy: "Background",
    manifestWorkTemplate: { workload: { manifests: [CONFIG_MAP] } },
    placementRefs: (placements.length > 0 ? placements : ["all"]).map((name) => ({ name, rolloutStrategy })),
  },
});
const decided = (...clusters: string[]): Decided => ({
  placement: {
    apiVersion: "cluster.open-cluster-management.io/v1beta1",
    kind: "Placement",
    metadata: { name: "all", namespace: "shop" },
    spec: {},
  } satisfies OcmPlacement,
  groups: [{ name: "", index: 0, clusters }],
  isFinal: true,
});

type Reached = "applied" | "progressing" | "succeeded" | "failed" | "new";
const CONDITIONS: Record<Reached, Record<string, "True" | "False">> = {
  new: {},
  applied: { Applied: "True" },
  progressing: { Applied: "True", Progressing: "True" },
  succeeded: { Applied: "True", Available: "True", Progressing: "False" },
  failed: { Applied: "True", Progressing: "True", Degraded: "True" },
};
function work(
  set: ManifestWorkReplicaSet,
  cluster: string,
  reached: Reached,
  { placement = "all", template = set.spec.manifestWorkTemplate } = {},
): ManifestWork {
  const made = workFor(set, placement, cluster, undefined);
  const conditions = Object.entries(CONDITIONS[reached]).map(([type, status]) => ({
    type,
    status,
    reason: "Test",
    message: "",
    observedGeneration: 3,
    lastTransitionTime: "2025-12-31T23:00:00Z",
  }));
  return { ...made, metadata: { ...made.metadata, generation: 3 }, spec: template, status: { conditions } };
}
const plan = (
  set: ManifestWorkReplicaSet,
  works: ManifestWork[],
  decisions: Record<string, Verdict>,
  isTaken?: ReplicaSetInput["isTaken"],
): ReplicaSetPlan =>
  planReplicaSet(set, {
    decidedOf: (name) => decisions[name] ?? "absent",
    works,
    nowMs: NOW,
    now: "2026-01-01T00:00:00Z",
    isTaken,
  });
const summaryOf = ({ writes, deletes }: ReplicaSetPlan): { writes: unknown[]; deletes: unknown[] } => ({
  writes: writes.map(({ metadata }) => metadata.namespace),
  deletes: deletes.map(({ metadata }) => metadata.namespace),
});
const conditionOf = ({ status }: ReplicaSetPlan, type: string): string => {
  const { status: is, reason, message } = findCondition(status.conditions, type) ?? {};
  return `${is} ${reason}${message ? `: ${message}` : ""}`;
};

test("every chosen cluster gets a work with the set's labels", () => {
  const got = plan(setOf(undefined), [], { all: decided("c1", "c2") });

  expect(summaryOf(got)).toEqual({ writes: ["c1", "c2"], deletes: [] });
  expect(got.writes[0]?.metadata.labels).toEqual({
    team: "a",
    "work.open-cluster-management.io/manifestworkreplicaset": "shop.web",
    "work.open-cluster-management.io/placementname": "all",
  });
  expect(conditionOf(got, "PlacementRolledOut")).toBe("False Progressing");
});

describe("a progressive rollout", () => {
  const set = setOf(CONCURRENT);
  const all = { all: decided("c1", "c2", "c3", "c4") };

  test("starts maxConcurrency clusters at a time", () => {
    expect(summaryOf(plan(set, [], all))).toEqual({ writes: ["c1", "c2"], deletes: [] });
    expect(summaryOf(plan(set, [work(set, "c1", "progressing"), work(set, "c2", "applied")], all))).toEqual({
      writes: [],
      deletes: [],
    });
  });

  test("continues as clusters succeed", () => {
    const got = plan(set, [work(set, "c1", "succeeded"), work(set, "c2", "progressing")], all);

    expect(summaryOf(got)).toEqual({ writes: ["c3"], deletes: [] });
    expect(got.status.placementSummary).toEqual([
      {
        name: "all",
        availableDecisionGroups: "0 (3 / 4 clusters applied)",
        summary: { total: 3, desiredTotal: 4, updated: 2, applied: 2, available: 1, progressing: 1, degraded: 0 },
      },
    ]);
  });

  test("is complete when all clusters have succeeded", () => {
    const got = plan(
      set,
      ["c1", "c2", "c3", "c4"].map((cluster) => work(set, cluster, "succeeded")),
      all,
    );

    expect(conditionOf(got, "PlacementRolledOut")).toBe("True Complete");
    expect(conditionOf(got, "ManifestworkApplied")).toBe("True AsExpected");
  });

  test("reports the failures that stopped it", () => {
    const got = plan(set, [work(set, "c1", "failed")], all);

    expect(summaryOf(got)).toEqual({ writes: [], deletes: [] });
    expect(conditionOf(got, "PlacementRolledOut")).toBe(
      "False Progressing: no more clusters are started, because more failed than maxFailures allows: c1",
    );
  });

  test("does not wait for a Progressing condition that no agent sets", () => {
    const there = (cluster: string): ManifestWork => {
      const made = work(set, cluster, "succeeded");
      return {
        ...made,
        status: { conditions: (made.status?.conditions ?? []).filter(({ type }) => type !== "Progressing") },
      };
    };

    expect(summaryOf(plan(set, [there("c1"), there("c2")], all))).toEqual({ writes: ["c3", "c4"], deletes: [] });
  });

  test("waits for a Progressing condition from a user's rule", () => {
    const manifestConfigs = [
      {
        resourceIdentifier: { group: "", resource: "configmaps", namespace: "shop", name: "web" },
        conditionRules: [{ condition: "Progressing", type: "CEL" as const, celExpressions: ["false"] }],
      },
    ];
    const ruled = {
      ...set,
      spec: { ...set.spec, manifestWorkTemplate: { ...set.spec.manifestWorkTemplate, manifestConfigs } },
    };

    expect(summaryOf(plan(ruled, [work(ruled, "c1", "applied"), work(ruled, "c2", "applied")], all))).toEqual({
      writes: [],
      deletes: [],
    });
  });
});

test("works of deselected clusters are deleted, also with an old template", () => {
  const set = setOf(undefined);
  const old = { workload: { manifests: [] } };

  expect(
    summaryOf(
      plan(
        set,
        [work(set, "c1", "succeeded"), work(set, "c8", "succeeded", { template: old }), work(set, "c9", "succeeded")],
        { all: decided("c1") },
      ),
    ),
  ).toEqual({ writes: [], deletes: ["c8", "c9"] });
});

test("works of Placements that the set no longer references are deleted", () => {
  const set = setOf(undefined);

  expect(summaryOf(plan(set, [work(set, "c1", "succeeded", { placement: "gone" })], { all: decided() }))).toEqual({
    writes: [],
    deletes: ["c1"],
  });
});

test("nothing changes while a Placement does not exist", () => {
  const set = setOf(undefined);
  const got = plan(set, [work(set, "c1", "succeeded")], {});

  expect(summaryOf(got)).toEqual({ writes: [], deletes: [] });
  expect(conditionOf(got, "PlacementVerified")).toBe(
    "False PlacementDecisionNotFound: the Placement all does not exist",
  );
});

describe("while a Placement has not decided", () => {
  const set = setOf(undefined, "one", "two");
  const works = [
    work(set, "c1", "succeeded", { placement: "one" }),
    work(set, "c9", "succeeded", { placement: "gone" }),
  ];

  test("nothing changes, whatever the other Placements have decided", () => {
    const got = plan(set, works, { one: decided("c1", "c2"), two: "deciding" });

    expect(summaryOf(got)).toEqual({ writes: [], deletes: [] });
    expect(conditionOf(got, "PlacementVerified")).toBe(
      "False PlacementDecisionNotFound: the Placement two has not decided yet",
    );
  });

  test("a set with a status keeps it", () => {
    const { status } = plan(set, works, { one: decided("c1"), two: decided() });
    const known = { ...set, status: status as NonNullable<ManifestWorkReplicaSet["status"]> };

    expect(plan(known, works, { one: "deciding", two: decided() }).status).toBe(known.status);
  });

  test("works for user-written decisions are created, and none are deleted", () => {
    expect(summaryOf(plan(set, works, { one: { ...decided("c2"), isFinal: false }, two: decided() }))).toEqual({
      writes: ["c2"],
      deletes: [],
    });
  });
});

describe("a work created for another Placement of the set", () => {
  const both = setOf(undefined, "one", "two");
  const only = setOf(undefined, "two");
  const labelOf = ({ writes }: ReplicaSetPlan): unknown =>
    writes[0]?.metadata.labels?.["work.open-cluster-management.io/placementname"];

  test("is handed over when the set no longer references that Placement", () => {
    const got = plan(only, [work(both, "c1", "succeeded", { placement: "one" })], { two: decided("c1") });

    expect(summaryOf(got)).toEqual({ writes: ["c1"], deletes: [] });
    expect(labelOf(got)).toBe("two");
    expect(conditionOf(got, "PlacementRolledOut")).toBe("True Complete");
  });

  test("is handed over when that Placement no longer chooses the cluster", () => {
    const got = plan(both, [work(both, "c1", "succeeded", { placement: "one" })], {
      one: decided(),
      two: decided("c1"),
    });

    expect(summaryOf(got)).toEqual({ writes: ["c1"], deletes: [] });
    expect(labelOf(got)).toBe("two");
  });

  test("keeps its template until its turn in the rollout", () => {
    const template = { workload: { manifests: [] } };
    const progressive = setOf({ type: "Progressive", progressive: { maxConcurrency: 1 } }, "two");
    const works = [
      work(progressive, "c1", "progressing", { placement: "two" }),
      work(both, "c2", "succeeded", { placement: "one", template }),
    ];

    const got = plan(progressive, works, { two: decided("c1", "c2") });

    expect(summaryOf(got)).toEqual({ writes: ["c2"], deletes: [] });
    expect(got.writes[0]?.spec).toEqual(template);
    expect(labelOf(got)).toBe("two");
  });

  test("is deleted if the cluster also has a work of its own Placement", () => {
    const other = work(both, "c1", "succeeded", { placement: "two" });
    const own = {
      ...work(both, "c1", "succeeded", { placement: "one" }),
      metadata: { ...work(both, "c1", "succeeded", { placement: "one" }).metadata, name: "own" },
    };

    const got = plan(both, [other, own], { one: decided("c1"), two: decided("c1") });

    expect(got.writes).toEqual([]);
    expect(got.deletes).toEqual([other]);
  });
});

test("a Placement that is referenced twice counts once", () => {
  const set = setOf(undefined, "all", "all");
  const first = plan(set, [], { all: decided("c1", "c2") });
  const next = plan(
    set,
    ["c1", "c2"].map((cluster) => work(set, cluster, "succeeded")),
    { all: decided("c1", "c2") },
  );

  expect(summaryOf(first)).toEqual({ writes: ["c1", "c2"], deletes: [] });
  expect(summaryOf(next)).toEqual({ writes: [], deletes: [] });
  expect(next.status.summary).toMatchObject({ total: 2 });
  expect(conditionOf(next, "PlacementRolledOut")).toBe("True Complete");
});

test("a cluster whose old work is being deleted waits for its deletion", () => {
  const set = setOf(undefined);
  const made = work(set, "c1", "succeeded");
  const leaving = { ...made, metadata: { ...made.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };

  expect(summaryOf(plan(set, [leaving], { all: decided("c1", "c2") }))).toEqual({ writes: ["c2"], deletes: [] });
});

test("a work has the name of its set, with a suffix if another owner has the name, and is never renamed", () => {
  const set = setOf(undefined);
  const named = (works: ManifestWork[], taken: string[]): unknown[] =>
    plan(
      { ...set, metadata: { ...set.metadata, labels: { team: "b" } } },
      works,
      { all: decided("c1") },
      (_cluster, name) => taken.includes(name),
    ).writes.map(({ metadata }) => metadata.name);
  const made = work(set, "c1", "succeeded");
  const old = { ...made, metadata: { ...made.metadata, name: "web12345" } };

  expect(named([], [])).toEqual(["web"]);
  expect(named([], ["web"])).toEqual([expect.stringMatching(/^web[0-9a-f]{5}$/)]);
  expect(named([old], [])).toEqual(["web12345"]);
});

test("a work that its member rejects fails when the progress deadline has passed", () => {
  const set = setOf({
    type: "Progressive",
    progressive: { maxConcurrency: 1, progressDeadline: "8s", maxFailures: 1 },
  });
  const refused = (secondsAgo: number): ManifestWork => {
    const made = work(set, "c1", "new");
    // The work itself was rejected before, with an earlier template.
    const condition = (lastTransitionTime: string) => ({
      type: "Applied",
      status: "False" as const,
      reason: "AppliedManifestFailed",
      message: "no",
      observedGeneration: 3,
      lastTransitionTime,
    });
    return {
      ...made,
      status: {
        conditions: [condition("2025-12-31T00:00:00Z")],
        resourceStatus: {
          manifests: [
            { resourceMeta: { ordinal: 0 }, conditions: [condition(new Date(NOW - secondsAgo * 1000).toISOString())] },
          ],
        },
      },
    };
  };

  expect(summaryOf(plan(set, [refused(5)], { all: decided("c1", "c2") }))).toEqual({ writes: [], deletes: [] });
  expect(plan(set, [refused(5)], { all: decided("c1", "c2") }).recheckAfterMs).toBe(3_000);
  expect(summaryOf(plan(set, [refused(9)], { all: decided("c1", "c2") }))).toEqual({ writes: ["c2"], deletes: [] });
});

test("a cluster that two Placements chose gets one work", () => {
  expect(
    summaryOf(plan(setOf(undefined, "one", "two"), [], { one: decided("c1", "c2"), two: decided("c2", "c3") })),
  ).toEqual({ writes: ["c1", "c2", "c3"], deletes: [] });
});

test("an owner name that does not fit into a label is replaced by a hash", () => {
  const set = setOf(undefined);
  const long = { ...set, metadata: { ...set.metadata, name: "x".repeat(80) } };

  const label =
    plan(long, [], { all: decided("c1") }).writes[0]?.metadata.labels?.[
      "work.open-cluster-management.io/manifestworkreplicaset"
    ] ?? "";

  expect(label).toMatch(/^shop\.x+-[0-9a-f]{16}$/);
  expect(label.length).toBeLessThanOrEqual(63);
});

test("an invalid rollout strategy is reported", () => {
  const got = plan(setOf({ type: "Progressive", progressive: { maxConcurrency: "some" } }), [], { all: decided("c1") });

  expect(summaryOf(got)).toEqual({ writes: [], deletes: [] });
  expect(conditionOf(got, "PlacementVerified")).toMatch(
    /^False NotAsExpected: all: failed to parse the provided maxConcurrency/,
  );
});
