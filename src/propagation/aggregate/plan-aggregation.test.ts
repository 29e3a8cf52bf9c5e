import { expect, test } from "vitest";
import { makeBinding, makeDeployment, makeWork } from "../../testing/index.ts";
import { isBehind, isTooEarly, planAggregation, planItems, takeStatus } from "./plan-aggregation.ts";

const NOW = "2024-05-01T12:00:00Z";
const binding = makeBinding(makeDeployment("shop/web").build()).targets({ paris: 5, oslo: 3 }).build();

test("each cluster reports its status, sorted by name", () => {
  const works = [
    makeWork("paris", "web").applied("True").reports({ replicas: 5 }).build(),
    makeWork("oslo", "web").applied("True").reports({ replicas: 3 }).build(),
  ];

  expect(planItems(works)).toEqual([
    { clusterName: "oslo", status: { replicas: 3 }, applied: true, health: "Healthy" },
    { clusterName: "paris", status: { replicas: 5 }, applied: true, health: "Healthy" },
  ]);
});

test("a cluster where applying failed says why and reports nothing else", () => {
  const works = [makeWork("paris", "web").applied("False", "quota exceeded").reports({ replicas: 5 }).build()];

  expect(planItems(works)).toEqual([
    { clusterName: "paris", applied: false, appliedMessage: "quota exceeded", health: "Unknown" },
  ]);
});

const fully: Record<string, { works: ReturnType<ReturnType<typeof makeWork>["build"]>[]; want: string }> = {
  "is fully applied when every target cluster is": {
    works: [makeWork("paris", "web").applied("True").build(), makeWork("oslo", "web").applied("True").build()],
    want: "True",
  },
  "is fully applied whatever becomes of a member that is no target any more": {
    works: ["paris", "oslo"]
      .map((cluster) => makeWork(cluster, "web").applied("True").build())
      .concat(makeWork("rome", "web").applied("False").build()),
    want: "True",
  },
  "is not fully applied while a target has no Work yet": {
    works: [makeWork("paris", "web").applied("True").build()],
    want: "False",
  },
  "is not fully applied while a target failed": {
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

test("an unchanged sum gives the binding itself back, so that nothing is written", () => {
  const items = planItems([
    makeWork("paris", "web").applied("True").build(),
    makeWork("oslo", "web").applied("True").build(),
  ]);
  const once = planAggregation(binding, items, NOW);

  expect(planAggregation(once, items, "2024-05-01T13:00:00Z")).toBe(once);
});

test("nothing is summed before every target was tried once, and everything afterwards", () => {
  const tried = makeWork("paris", "web").applied("True").build();
  const untried = makeWork("oslo", "web").build();

  expect(isTooEarly(binding, [tried, untried])).toBe(true);
  expect(isTooEarly(binding, [tried, makeWork("oslo", "web").applied("False").build()])).toBe(false);
  expect(isTooEarly({ ...binding, status: { aggregatedStatus: [] } }, [tried, untried])).toBe(false);
});

test("a summed status goes to the newest form of its template", () => {
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

test("a status that was summed for an earlier spec, or is there already, changes nothing", () => {
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

test("a sum is behind while some member has not seen the newest spec", () => {
  const template = { apiVersion: "v1", kind: "Widget", metadata: { name: "w", generation: 2 } };

  expect(isBehind({ ...template, status: { observedGeneration: 1 } })).toBe(true);
  expect(isBehind({ ...template, status: { observedGeneration: 2 } })).toBe(false);
  expect(isBehind({ ...template, status: { ready: 1 } })).toBe(false);
});
