import { expect, test } from "vitest";
import type { ManifestWork, ManifestWorkReplicaSet } from "@flotilla/ocm";
import type { RolloutStrategy } from "@flotilla/apimachinery/facts/cluster-ocm-v1alpha1.ts";
import { workFor } from "../../ocm/replicaset/child-works.ts";
import { type Verdict } from "../../ocm/replicaset/decided.ts";
import { explainReplicaSet } from "./explain-replica-set.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const condition = (type: string, status: "True" | "False", message = "") => ({
  type,
  status,
  reason: "Test",
  message,
  observedGeneration: 1,
  lastTransitionTime: "2024-05-01T11:59:50Z",
});
const makeSet = (
  rolloutStrategy: RolloutStrategy,
  conditions: ReturnType<typeof condition>[] = [],
): ManifestWorkReplicaSet => ({
  apiVersion: "work.open-cluster-management.io/v1alpha1",
  kind: "ManifestWorkReplicaSet",
  metadata: { namespace: "shop", name: "web" },
  spec: {
    cascadeDeletionPolicy: "Background",
    manifestWorkTemplate: { workload: { manifests: [] } },
    placementRefs: [{ name: "all", rolloutStrategy }],
  },
  status: {
    conditions,
    placementSummary: [],
    summary: { total: 0, desiredTotal: 0, updated: 0, applied: 0, available: 0, progressing: 0, degraded: 0 },
  },
});
function makeWork(
  set: ManifestWorkReplicaSet,
  cluster: string,
  conditions: ReturnType<typeof condition>[],
): ManifestWork {
  const work = workFor(set, "all", cluster, undefined);
  return {
    ...work,
    metadata: { ...work.metadata, generation: 1 },
    status: { conditions, resourceStatus: { manifests: [] } },
  };
}
const group = (...clusters: string[]): Verdict => ({
  placement: {
    apiVersion: "cluster.open-cluster-management.io/v1beta1",
    kind: "Placement",
    metadata: { name: "all", namespace: "shop" },
    spec: {},
  },
  groups: [{ name: "", index: 0, clusters }],
  isFinal: true,
});
const progressive: RolloutStrategy = { type: "Progressive", progressive: { maxConcurrency: 1, minSuccessTime: "1m" } };
const succeeded = [condition("Applied", "True"), condition("Progressing", "False")];

test("a waiting cluster lists the clusters before it and the earliest start time", () => {
  const set = makeSet(progressive);

  const { rollout, problems } = explainReplicaSet(set, {
    verdictOf: () => group("c1", "c2"),
    works: [makeWork(set, "c1", succeeded)],
    nowMs: NOW,
  });

  expect(rollout).toMatchObject([{ placement: "all", strategy: "Progressive", counts: { Succeeded: 1, Waiting: 1 } }]);
  expect(rollout[0]?.clusters).toMatchObject([
    { cluster: "c2", state: "Waiting", message: "comes after c1, not before 2024-05-01T12:00:50Z" },
    { cluster: "c1", state: "Succeeded" },
  ]);
  expect(problems).toEqual([]);
});

test("a stopped rollout reports the reason and the failed cluster", () => {
  const set = makeSet(progressive, [
    condition(
      "PlacementRolledOut",
      "False",
      "no more clusters are started, because more failed than maxFailures allows: c1",
    ),
  ]);
  const failed = makeWork(set, "c1", [
    condition("Applied", "True"),
    condition("Progressing", "True"),
    condition("Degraded", "True", "no image"),
  ]);

  const { rollout, problems } = explainReplicaSet(set, {
    verdictOf: () => group("c1", "c2"),
    works: [failed],
    nowMs: NOW,
  });

  expect(rollout[0]?.clusters).toMatchObject([
    { cluster: "c1", state: "Failed", message: "no image" },
    { cluster: "c2", state: "Waiting", message: "the rollout stopped because too many clusters failed" },
  ]);
  expect(problems.map(({ what }) => what)).toEqual([
    "no more clusters are started, because more failed than maxFailures allows: c1",
    "c1: no image",
  ]);
});

test("a cluster with an earlier template is shown as waiting", () => {
  const set = makeSet(progressive);
  const old = makeWork(makeSet(progressive), "c2", succeeded);
  old.spec = { workload: { manifests: [{ apiVersion: "v1", kind: "ConfigMap" }] } };

  const { rollout } = explainReplicaSet(set, {
    verdictOf: () => group("c1", "c2"),
    works: [makeWork(set, "c1", succeeded), old],
    nowMs: NOW,
  });

  expect(rollout[0]?.clusters[0]).toMatchObject({
    cluster: "c2",
    state: "Waiting",
    message: "it has an earlier template; comes after c1, not before 2024-05-01T12:00:50Z",
  });
});

test("reports a missing Placement", () => {
  const { problems } = explainReplicaSet(makeSet(progressive), { verdictOf: () => "absent", works: [], nowMs: NOW });

  expect(problems).toMatchObject([{ what: "Placement all does not exist in its namespace" }]);
});

test("reports a Placement without decisions", () => {
  const { problems } = explainReplicaSet(makeSet(progressive), { verdictOf: () => "deciding", works: [], nowMs: NOW });

  expect(problems).toMatchObject([
    {
      what: "Placement all has not decided yet, or some of its PlacementDecisions are missing",
      try: "run 'flotilla why placement/all'; running workloads are kept meanwhile",
    },
  ]);
});

test("shows a cluster past its deadline as timed out", () => {
  const set = makeSet({ type: "Progressive", progressive: { maxConcurrency: 1, progressDeadline: "5s" } });
  const late = makeWork(set, "c1", [
    condition("Applied", "True"),
    condition("Progressing", "True", "Deployment web is not complete"),
  ]);

  const { rollout, problems } = explainReplicaSet(set, {
    verdictOf: () => group("c1", "c2"),
    works: [late],
    nowMs: NOW,
  });

  expect(rollout[0]).toMatchObject({
    counts: { TimeOut: 1, Waiting: 1 },
    clusters: [
      { cluster: "c1", state: "TimeOut" },
      { cluster: "c2", state: "Waiting" },
    ],
  });
  expect(problems.map(({ what }) => what)).toEqual([
    "c1: the cluster did not finish within progressDeadline: Deployment web is not complete",
  ]);
});

test("reports what a cluster rejects in the work", () => {
  const set = makeSet(progressive);
  const refused = makeWork(set, "c1", [
    condition("Applied", "False", 'Failed to apply manifest: namespaces "nowhere" not found'),
  ]);

  const { rollout, problems } = explainReplicaSet(set, { verdictOf: () => group("c1"), works: [refused], nowMs: NOW });

  expect(rollout[0]?.clusters).toMatchObject([
    { cluster: "c1", state: "Rejected", message: 'namespaces "nowhere" not found' },
  ]);
  expect(problems).toMatchObject([{ what: 'c1: namespaces "nowhere" not found' }]);
});

test("a cluster that does not report is not counted as succeeded, and is named with what it last reported", () => {
  const set = makeSet({ type: "All" });
  const works = ["oslo", "paris"].map((cluster) => makeWork(set, cluster, succeeded));

  const { rollout, problems } = explainReplicaSet(set, {
    verdictOf: () => group("oslo", "paris"),
    works,
    whyAway: (cluster) => (cluster === "paris" ? "not reporting" : undefined),
    nowMs: NOW,
  });

  expect(rollout[0]?.counts).toEqual({ Succeeded: 1, Stale: 1 });
  expect(problems.map(({ what }) => what)).toEqual(["paris: it is not reporting; it last reported Succeeded"]);
});
