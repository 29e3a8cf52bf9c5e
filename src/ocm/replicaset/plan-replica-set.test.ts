import { describe, expect, test } from "vitest";
import type { ManifestWork, ManifestWorkReplicaSet, OcmPlacement, RolloutStrategy } from "../../api/index.ts";
import { findCondition } from "../../machinery/index.ts";
import { workFor } from "./child-works.ts";
import { planReplicaSet, type Decided, type ReplicaSetPlan } from "./plan-replica-set.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const CONFIG_MAP = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web", namespace: "shop" } };
const CONCURRENT: RolloutStrategy = { type: "Progressive", progressive: { maxConcurrency: 2 } };

const setOf = (rolloutStrategy: RolloutStrategy | undefined, ...placements: string[]): ManifestWorkReplicaSet => ({
  apiVersion: "work.open-cluster-management.io/v1alpha1",
  kind: "ManifestWorkReplicaSet",
  metadata: { name: "web", namespace: "shop", generation: 1, labels: { team: "a" } },
  spec: { cascadeDeletionPolicy: "Background", manifestWorkTemplate: { workload: { manifests: [CONFIG_MAP] } }, placementRefs: (placements.length > 0 ? placements : ["all"]).map((name) => ({ name, ...(rolloutStrategy && { rolloutStrategy }) })) },
});
const decided = (...clusters: string[]): Decided => ({ placement: { apiVersion: "cluster.open-cluster-management.io/v1beta1", kind: "Placement", metadata: { name: "all", namespace: "shop" }, spec: {} } satisfies OcmPlacement, groups: [{ name: "", index: 0, clusters }] });

type Reached = "applied" | "progressing" | "succeeded" | "failed" | "new";
const CONDITIONS: Record<Reached, Record<string, "True" | "False">> = { new: {}, applied: { Applied: "True" }, progressing: { Applied: "True", Progressing: "True" }, succeeded: { Applied: "True", Available: "True", Progressing: "False" }, failed: { Applied: "True", Progressing: "True", Degraded: "True" } };
function work(set: ManifestWorkReplicaSet, cluster: string, reached: Reached, { placement = "all", template = set.spec.manifestWorkTemplate } = {}): ManifestWork {
  const made = workFor(set, placement, cluster, undefined);
  const conditions = Object.entries(CONDITIONS[reached]).map(([type, status]) => ({ type, status, reason: "Test", message: "", observedGeneration: 3, lastTransitionTime: "2025-12-31T23:00:00Z" }));
  return { ...made, metadata: { ...made.metadata, generation: 3 }, spec: template, status: { conditions } };
}
const plan = (set: ManifestWorkReplicaSet, works: ManifestWork[], decisions: Record<string, Decided>): ReplicaSetPlan => planReplicaSet(set, { decidedOf: (name) => decisions[name], works, nowMs: NOW, now: "2026-01-01T00:00:00Z" });
const told = ({ writes, deletes }: ReplicaSetPlan): { writes: unknown[]; deletes: unknown[] } => ({ writes: writes.map(({ metadata }) => metadata.namespace), deletes: deletes.map(({ metadata }) => metadata.namespace) });
const conditionOf = ({ status }: ReplicaSetPlan, type: string): string => {
  const { status: is, reason, message } = findCondition(status.conditions, type) ?? {};
  return `${is} ${reason}${message ? `: ${message}` : ""}`;
};

test("every chosen cluster gets a work with the set's labels", () => {
  const got = plan(setOf(undefined), [], { all: decided("c1", "c2") });

  expect(told(got)).toEqual({ writes: ["c1", "c2"], deletes: [] });
  expect(got.writes[0]?.metadata.labels).toEqual({ team: "a", "work.open-cluster-management.io/manifestworkreplicaset": "shop.web", "work.open-cluster-management.io/placementname": "all" });
  expect(conditionOf(got, "PlacementRolledOut")).toBe("False Progressing");
});

describe("a progressive rollout", () => {
  const set = setOf(CONCURRENT);
  const all = { all: decided("c1", "c2", "c3", "c4") };

  test("starts so many at a time", () => {
    expect(told(plan(set, [], all))).toEqual({ writes: ["c1", "c2"], deletes: [] });
    expect(told(plan(set, [work(set, "c1", "progressing"), work(set, "c2", "applied")], all))).toEqual({ writes: [], deletes: [] });
  });

  test("goes on as they succeed", () => {
    const got = plan(set, [work(set, "c1", "succeeded"), work(set, "c2", "progressing")], all);

    expect(told(got)).toEqual({ writes: ["c3"], deletes: [] });
    expect(got.status.placementSummary).toEqual([{ name: "all", availableDecisionGroups: "0 (3 / 4 clusters applied)", summary: { total: 3, desiredTotal: 4, updated: 2, applied: 2, available: 1, progressing: 1, degraded: 0 } }]);
  });

  test("is complete when all have succeeded", () => {
    const got = plan(set, ["c1", "c2", "c3", "c4"].map((cluster) => work(set, cluster, "succeeded")), all);

    expect(conditionOf(got, "PlacementRolledOut")).toBe("True Complete");
    expect(conditionOf(got, "ManifestworkApplied")).toBe("True AsExpected");
  });

  test("says which failures stopped it", () => {
    const got = plan(set, [work(set, "c1", "failed")], all);

    expect(told(got)).toEqual({ writes: [], deletes: [] });
    expect(conditionOf(got, "PlacementRolledOut")).toBe("False Progressing: no more clusters are started, because more failed than maxFailures allows: c1");
  });

  test("does not wait for progress that nobody reports", () => {
    const there = (cluster: string): ManifestWork => {
      const made = work(set, cluster, "succeeded");
      return { ...made, status: { conditions: (made.status?.conditions ?? []).filter(({ type }) => type !== "Progressing") } };
    };

    expect(told(plan(set, [there("c1"), there("c2")], all))).toEqual({ writes: ["c3", "c4"], deletes: [] });
  });

  test("waits for progress that a rule of the user reports", () => {
    const manifestConfigs = [{ resourceIdentifier: { group: "", resource: "configmaps", namespace: "shop", name: "web" }, conditionRules: [{ condition: "Progressing", type: "CEL" as const, celExpressions: ["false"] }] }];
    const ruled = { ...set, spec: { ...set.spec, manifestWorkTemplate: { ...set.spec.manifestWorkTemplate, manifestConfigs } } };

    expect(told(plan(ruled, [work(ruled, "c1", "applied"), work(ruled, "c2", "applied")], all))).toEqual({ writes: [], deletes: [] });
  });
});

test("works of clusters that were deselected go, also with an old template", () => {
  const set = setOf(undefined);
  const old = { workload: { manifests: [] } };

  expect(told(plan(set, [work(set, "c1", "succeeded"), work(set, "c8", "succeeded", { template: old }), work(set, "c9", "succeeded")], { all: decided("c1") }))).toEqual({ writes: [], deletes: ["c8", "c9"] });
});

test("works of Placements that the set no longer names go", () => {
  const set = setOf(undefined);

  expect(told(plan(set, [work(set, "c1", "succeeded", { placement: "gone" })], { all: decided() }))).toEqual({ writes: [], deletes: ["c1"] });
});

test("nothing happens while a Placement is not there", () => {
  const set = setOf(undefined);
  const got = plan(set, [work(set, "c1", "succeeded")], {});

  expect(told(got)).toEqual({ writes: [], deletes: [] });
  expect(conditionOf(got, "PlacementVerified")).toBe("False PlacementDecisionNotFound: the Placement all does not exist");
});

test("a cluster that two Placements chose gets one work", () => {
  expect(told(plan(setOf(undefined, "one", "two"), [], { one: decided("c1", "c2"), two: decided("c2", "c3") }))).toEqual({ writes: ["c1", "c2", "c3"], deletes: [] });
});

test("a name that no label can hold is replaced by a hash", () => {
  const set = setOf(undefined);
  const long = { ...set, metadata: { ...set.metadata, name: "x".repeat(80) } };

  const label = plan(long, [], { all: decided("c1") }).writes[0]?.metadata.labels?.["work.open-cluster-management.io/manifestworkreplicaset"] ?? "";

  expect(label).toMatch(/^shop\.x+-[0-9a-f]{16}$/);
  expect(label.length).toBeLessThanOrEqual(63);
});

test("a strategy that cannot be followed is told", () => {
  const got = plan(setOf({ type: "Progressive", progressive: { maxConcurrency: "some" } }), [], { all: decided("c1") });

  expect(told(got)).toEqual({ writes: [], deletes: [] });
  expect(conditionOf(got, "PlacementVerified")).toMatch(/^False NotAsExpected: all: failed to parse the provided maxConcurrency/);
});
