import { expect, test } from "vitest";
import type { OcmPlacement, PlacementDecision } from "@flotilla/ocm";
import type { PlacementPlan } from "./plan-placement.ts";
import { isWritten, scoreWaitMs, wantedDecisions, writeSteps, type WantedDecision } from "./wanted-decisions.ts";

const NOW = Date.parse("2026-01-01T00:00:30Z");
const makePlacement = (
  sortBy: "ClusterName" | "Score",
  lastScoreUpdateTime?: string,
  scoreRateLimit = "1m",
): OcmPlacement => ({
  apiVersion: "cluster.open-cluster-management.io/v1beta1",
  kind: "Placement",
  metadata: { name: "p", namespace: "shop" },
  spec: { sortBy, scoreRateLimit },
  status: { lastScoreUpdateTime: lastScoreUpdateTime || undefined },
});
const makePlan = (scores: Record<string, number>): PlacementPlan => ({
  chosen: Object.keys(scores),
  unscheduled: 0,
  decisions: [{ name: "p-decision-1", groupName: "", groupIndex: 0, clusters: Object.keys(scores) }],
  groups: [],
  conditions: [],
  record: { eligibleSets: [], available: [], filters: [], prioritizers: [], scores: new Map(Object.entries(scores)) },
});
const stored = (
  decisions: { clusterName: string; reason: string; score?: number }[],
): ReadonlyMap<string, PlacementDecision> =>
  new Map([
    [
      "p-decision-1",
      {
        apiVersion: "cluster.open-cluster-management.io/v1beta1",
        kind: "PlacementDecision",
        metadata: { name: "p-decision-1", namespace: "shop" },
        status: { decisions },
      },
    ],
  ]);
const old = stored([
  { clusterName: "c2", reason: "", score: 100 },
  { clusterName: "c1", reason: "", score: 50 },
]);

test("decisions include scores only if they are ordered by score", () => {
  expect(
    wantedDecisions(makePlacement("Score"), makePlan({ c2: 100, c1: 50 }), new Map())[0]?.status.decisions,
  ).toEqual([
    { clusterName: "c2", reason: "", score: 100 },
    { clusterName: "c1", reason: "", score: 50 },
  ]);
  expect(wantedDecisions(makePlacement("ClusterName"), makePlan({ c1: 50 }), new Map())[0]?.status.decisions).toEqual([
    { clusterName: "c1", reason: "" },
  ]);
});

const waits: Record<string, { placement: OcmPlacement; scores: Record<string, number>; want: number }> = {
  "score-only changes wait for the rest of the one-minute rate limit": {
    placement: makePlacement("Score", "2026-01-01T00:00:00Z"),
    scores: { c1: 200, c2: 100 },
    want: 30_000,
  },
  "score-only changes wait for the rest of a longer scoreRateLimit": {
    placement: makePlacement("Score", "2026-01-01T00:00:00Z", "2m"),
    scores: { c1: 200, c2: 100 },
    want: 90_000,
  },
  "score-only changes do not wait after the rate limit has passed": {
    placement: makePlacement("Score", "2025-12-31T23:59:00Z"),
    scores: { c1: 200, c2: 100 },
    want: 0,
  },
  "a newly chosen cluster is written without waiting": {
    placement: makePlacement("Score", "2026-01-01T00:00:00Z"),
    scores: { c1: 200, c3: 100 },
    want: 0,
  },
};
for (const [behaviour, { placement, scores, want }] of Object.entries(waits)) {
  test(behaviour, () => {
    const wanted = wantedDecisions(placement, makePlan(scores), old);

    expect(isWritten(wanted[0] as never)).toBe(false);
    expect(scoreWaitMs(placement, wanted, old.size, NOW)).toBe(want);
  });
}

/** Decisions by name, each with its current and its desired clusters. */
const changes = (decisions: Record<string, [before: string[] | undefined, after: string[]]>): WantedDecision[] =>
  Object.entries(decisions).map(([name, [before, after]]) => ({
    planned: { name, groupName: "", groupIndex: 0, clusters: after },
    before: before && {
      apiVersion: "cluster.open-cluster-management.io/v1beta1",
      kind: "PlacementDecision",
      metadata: { name, namespace: "shop" },
      status: { decisions: before.map((clusterName) => ({ clusterName, reason: "" })) },
    },
    status: { decisions: after.map((clusterName) => ({ clusterName, reason: "" })) },
  }));
const summaryOf = (steps: readonly WantedDecision[][]): string[][] =>
  steps.map((step) =>
    step.map(
      ({ planned, status }) => `${planned.name}: ${status.decisions.map(({ clusterName }) => clusterName).join(" ")}`,
    ),
  );

const moves: Record<string, { wanted: WantedDecision[]; want: string[][] }> = {
  "decisions are written in parallel if no cluster moves between them": {
    wanted: changes({
      d1: [undefined, ["a"]],
      d2: [
        ["b", "c"],
        ["b", "d"],
      ],
    }),
    want: [["d1: a", "d2: b d"]],
  },
  "a cluster is added to its new decision before it is removed from the old one": {
    wanted: changes({ d1: [["a", "b"], ["a"]], d2: [undefined, ["b"]] }),
    want: [["d2: b"], ["d1: a"]],
  },
  "clusters that swap decisions are in both for a moment": {
    wanted: changes({ d1: [["a"], ["b"]], d2: [["b"], ["a"]] }),
    want: [
      ["d1: b a", "d2: a b"],
      ["d1: b", "d2: a"],
    ],
  },
};
for (const [behaviour, { wanted, want }] of Object.entries(moves)) {
  test(behaviour, () => {
    expect(summaryOf(writeSteps(wanted))).toEqual(want);
  });
}
