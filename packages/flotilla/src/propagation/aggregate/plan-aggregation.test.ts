import { expect, test } from "vitest";
import { makeBinding, makeDeployment, makeWork } from "@flotilla/testing/builders.ts";
import { isBehind, isTooEarly, planAggregation, planItems, takeStatus } from "./plan-aggregation.ts";

const NOW = "2024-05-01T12:00:00Z";
const binding = makeBinding(makeDeployment("shop/web").build()).targets({ paris: 5, oslo: 3 }).build();

test("each cluster's status is aggregated, sorted by name", () => {
  const works = [
    makeWork("paris", "web").applied("True").reports({ replicas: 5 }).build(),
    makeWork("oslo", "web").applied("True").reports({ replicas: 3 }).build(),
  ];

  expect(planItems(works)).toEqual([
    { clusterName: "oslo", status: { replicas: 3 }, applied: true, health: "Healthy" },
    { clusterName: "paris", status: { replicas: 5 }, applied: true, health: "Healthy" },
  ]);
});

test("a cluster where applying failed reports the error, and keeps its last numbers", () => {
  const works = [makeWork("paris", "web").applied("False", "quota exceeded").reports({ replicas: 5 }).build()];

  expect(planItems(works)).toEqual([
    {
      clusterName: "paris",
      status: { replicas: 5 },
      applied: false,
      appliedMessage: "quota exceeded",
      health: "Unknown",
    },
  ]);
});

const stale: Record<string, { applied: "True" | "False"; away: string[]; reports?: boolean; want?: object }> = {
  "is not stale while every member reports": { applied: "True", away: [] },
  "is stale while a member is not ready": {
    applied: "True",
    away: ["paris"],
    want: {
      status: "True",
      reason: "MembersNotReporting",
      message: "the status has the last numbers of paris (not ready)",
    },
  },
  "is stale while a member does not accept the latest copy": {
    applied: "False",
    away: [],
    want: {
      status: "True",
      reason: "MembersNotReporting",
      message: "the status has the last numbers of paris (not applied)",
    },
  },
  "is not stale where a member has no numbers": { applied: "False", away: ["paris"], reports: false },
};
for (const [behaviour, { applied, away, reports = true, want }] of Object.entries(stale)) {
  test(`the status of a binding ${behaviour}`, () => {
    const work = makeWork("paris", "web").applied(applied);
    const items = planItems([(reports ? work.reports({ replicas: 5 }) : work).build()]);

    const { conditions = [] } = planAggregation(binding, items, NOW, new Set(away)).status ?? {};

    const found = conditions.find(({ type }) => type === "Stale");
    if (want) expect(found).toMatchObject(want);
    else expect(found).toBeUndefined();
  });
}

test("a binding whose members report again is no longer stale", () => {
  const items = planItems([makeWork("paris", "web").applied("True").reports({ replicas: 5 }).build()]);
  const before = planAggregation(binding, items, NOW, new Set(["paris"]));

  const after = planAggregation(before, items, NOW, new Set());

  expect(after.status?.conditions).toMatchObject([
    { type: "FullyApplied" },
    { type: "Stale", status: "False", reason: "AllMembersReporting" },
  ]);
});

const fully: Record<string, { works: ReturnType<ReturnType<typeof makeWork>["build"]>[]; want: string }> = {
  "is fully applied when it is applied on every target cluster": {
    works: [makeWork("paris", "web").applied("True").build(), makeWork("oslo", "web").applied("True").build()],
    want: "True",
  },
  "is fully applied regardless of members that are no longer targets": {
    works: ["paris", "oslo"]
      .map((cluster) => makeWork(cluster, "web").applied("True").build())
      .concat(makeWork("rome", "web").applied("False").build()),
    want: "True",
  },
  "is not fully applied while a target has no Work": {
    works: [makeWork("paris", "web").applied("True").build()],
    want: "False",
  },
  "is not fully applied while it failed on a target": {
    works: [makeWork("paris", "web").applied("True").build(), makeWork("oslo", "web").applied("False").build()],
    want: "False",
  },
};
for (const [behaviour, { works, want }] of Object.entries(fully)) {
  test(`a binding ${behaviour}`, () => {
    const next = planAggregation(binding, planItems(works), NOW);

    expect(next.status?.conditions).toMatchObject([{ type: "FullyApplied", status: want }]);
  });
}

test("an unchanged aggregation returns the same binding, so that nothing is written", () => {
  const items = planItems([
    makeWork("paris", "web").applied("True").build(),
    makeWork("oslo", "web").applied("True").build(),
  ]);
  const once = planAggregation(binding, items, NOW);

  expect(planAggregation(once, items, "2024-05-01T13:00:00Z")).toBe(once);
});

test("aggregation starts once every target was tried", () => {
  const tried = makeWork("paris", "web").applied("True").build();
  const untried = makeWork("oslo", "web").build();

  expect(isTooEarly(binding, [tried, untried])).toBe(true);
  expect(isTooEarly(binding, [tried, makeWork("oslo", "web").applied("False").build()])).toBe(false);
  expect(isTooEarly({ ...binding, status: { aggregatedStatus: [] } }, [tried, untried])).toBe(false);
});

test("an aggregated status is moved to the latest version of its template", () => {
  const template = {
    apiVersion: "v1",
    kind: "Widget",
    metadata: { name: "w", uid: "1", generation: 2, resourceVersion: "5" },
  };
  const newest = { ...template, metadata: { ...template.metadata, resourceVersion: "6" } };

  expect(takeStatus(newest, template, { ...template, status: { ready: 3 } })).toEqual({
    ...newest,
    status: { ready: 3 },
  });
});

test("a status aggregated for an earlier spec, or already present, changes nothing", () => {
  const template = {
    apiVersion: "v1",
    kind: "Widget",
    metadata: { name: "w", uid: "1", generation: 2 },
    status: { ready: 3 },
  };
  const edited = { ...template, metadata: { ...template.metadata, generation: 3 } };

  expect(takeStatus(edited, template, { ...template, status: { ready: 4 } })).toBe(edited);
  expect(takeStatus(template, template, { ...template, status: { ready: 3 } })).toBe(template);
});

test("an aggregation is behind while a member has not observed the latest spec", () => {
  const template = { apiVersion: "v1", kind: "Widget", metadata: { name: "w", generation: 2 } };

  expect(isBehind({ ...template, status: { observedGeneration: 1 } })).toBe(true);
  expect(isBehind({ ...template, status: { observedGeneration: 2 } })).toBe(false);
  expect(isBehind({ ...template, status: { ready: 1 } })).toBe(false);
});
