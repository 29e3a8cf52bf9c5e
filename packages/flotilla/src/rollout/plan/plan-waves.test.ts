import { describe, expect, test } from "vitest";
import { planWaves } from "./plan-waves.ts";
import type { PlannedWave, WaveMember } from "./plan-waves.ts";

type Strategy = Parameters<typeof planWaves>[0];

const member = (name: string, size: number, labels: Record<string, string> = {}): WaveMember => ({
  name,
  size,
  labels,
});
const weights = [
  { name: "one", weight: 1 },
  { name: "two", weight: 2 },
  { name: "seven", weight: 7 },
];
const countsOf = (waves: readonly PlannedWave[]): Record<string, Record<string, number>> =>
  Object.fromEntries(waves.map(({ name, targets }) => [name, Object.fromEntries(targets)]));
const three = [member("a", 10), member("b", 20), member("c", 70)];

test("weights of 1:2:7 update 10, 30 and 100 pods, in proportion to the members' sizes", () => {
  const waves = planWaves({ waves: weights, order: "Spread", unit: "Pods" }, three, false);

  expect(countsOf(waves)).toEqual({
    one: { a: 1, b: 2, c: 7 },
    two: { a: 3, b: 6, c: 21 },
    seven: { a: 10, b: 20, c: 70 },
  });
});

test("weights of 1:2:7 update whole members where these have the same sizes", () => {
  for (const isWhole of [true, false]) {
    const waves = planWaves({ waves: weights, order: "Ordered", unit: "Pods" }, three, isWhole);

    expect(waves.map(({ members }) => members)).toEqual([["a"], ["b"], ["c"]]);
  }
});

test("weights update at least one pod more in each wave, while there are any", () => {
  const updated = [1, 2, 4, 13].map((size) =>
    planWaves({ waves: weights, order: "Spread", unit: "Pods" }, [member("a", size)], false).map(
      (wave) => wave.updated,
    ),
  );

  expect(updated).toEqual([
    [1, 1, 1],
    [1, 2, 2],
    [1, 2, 4],
    [2, 4, 13],
  ]);
});

test("a member that loses its label keeps what it was given, and the rest follows in a wave of its own", () => {
  const waves = planWaves(
    { waves: [{ name: "canary", clusters: { matchLabels: { tier: "canary" } } }], order: "Spread", unit: "Pods" },
    [{ ...member("a", 3), floor: 3, wave: "canary" }, member("b", 2, { tier: "canary" }), member("c", 4)],
    false,
  );

  expect(countsOf(waves)).toEqual({ canary: { a: 3, b: 2 }, rest: { a: 3, b: 2, c: 4 } });
});

describe("the waves of a release", () => {
  const cases: Record<
    string,
    {
      waves: Strategy["waves"];
      order?: Strategy["order"];
      unit?: Strategy["unit"];
      members: WaveMember[];
      isWhole?: boolean;
      want: Record<string, Record<string, number>>;
    }
  > = {
    "round a percentage of pods up": {
      waves: [{ name: "canary", pods: "5%" }, { name: "all" }],
      members: [member("a", 5), member("b", 5)],
      want: { canary: { a: 1 }, all: { a: 5, b: 5 } },
    },
    "take a number of pods from one member after another with order Ordered": {
      waves: [{ name: "canary", pods: 7 }, { name: "all" }],
      order: "Ordered",
      members: [member("a", 5), member("b", 5)],
      want: { canary: { a: 5, b: 2 }, all: { a: 5, b: 5 } },
    },
    "never update more pods than there are": {
      waves: [{ name: "all", pods: 1_000_000 }],
      members: [member("a", 5), member("b", 5)],
      want: { all: { a: 5, b: 5 } },
    },
    "update nothing for a negative number of pods": {
      waves: [{ name: "none", pods: -3 }],
      members: [member("a", 5)],
      want: { none: {}, rest: { a: 5 } },
    },
    "keep what an earlier wave has updated": {
      waves: [
        { name: "half", pods: "50%" },
        { name: "less", pods: "10%" },
      ],
      members: [member("a", 10)],
      want: { half: { a: 5 }, less: { a: 5 }, rest: { a: 10 } },
    },
    "do not need a rest for members without pods": {
      waves: [
        { name: "half", pods: "50%" },
        { name: "all", pods: "100%" },
      ],
      members: [member("a", 4), member("empty", 0)],
      want: { half: { a: 2 }, all: { a: 4, empty: 0 } },
    },
    "do not need a rest for whole members without pods": {
      waves: [
        { name: "one", weight: 1 },
        { name: "two", weight: 1 },
      ],
      members: [member("a", 4), member("b", 4), member("empty", 0)],
      isWhole: true,
      want: { one: { a: 4 }, two: { a: 4, b: 4, empty: 0 } },
    },
    "reach the members of a workload that is scaled to zero with the last one": {
      waves: weights,
      members: [member("a", 0), member("b", 0)],
      want: { one: {}, two: {}, seven: { a: 0, b: 0 } },
    },
    "leave a member without pods that none selects to the rest": {
      waves: [{ name: "eu", clusters: { matchLabels: { region: "eu" } } }],
      members: [member("a", 4, { region: "eu" }), member("empty", 0)],
      want: { eu: { a: 4 }, rest: { a: 4, empty: 0 } },
    },
    "are empty when no member has their labels": {
      waves: [{ name: "canary", clusters: { matchLabels: { tier: "canary" } } }, { name: "all" }],
      members: [member("a", 4)],
      want: { canary: {}, all: { a: 4 } },
    },
    "are empty without members": { waves: [{ name: "all" }], members: [], want: { all: {} } },
    "count members that no earlier wave has selected": {
      waves: [
        { name: "one", clusters: { count: 1 } },
        { name: "two", clusters: { count: 2 } },
      ],
      members: [member("a", 1), member("b", 1), member("c", 1), member("d", 1)],
      want: { one: { a: 1 }, two: { a: 1, b: 1, c: 1 }, rest: { a: 1, b: 1, c: 1, d: 1 } },
    },
    "select members by expressions": {
      waves: [
        {
          name: "edge",
          clusters: { matchExpressions: [{ key: "region", operator: "NotIn", values: ["eu"] }] },
        },
      ],
      members: [member("a", 2, { region: "eu" }), member("b", 2, { region: "us" }), member("c", 2)],
      want: { edge: { b: 2, c: 2 }, rest: { a: 2, b: 2, c: 2 } },
    },
    "update whole members with unit Clusters, until the number of pods is reached": {
      waves: [{ name: "third", pods: "33%" }, { name: "all" }],
      unit: "Clusters",
      members: [member("a", 3), member("b", 3), member("c", 3)],
      want: { third: { a: 3 }, all: { a: 3, b: 3, c: 3 } },
    },
    "name the rest so that it is unique": {
      waves: [{ name: "rest", pods: 1 }],
      members: [member("a", 2)],
      want: { rest: { a: 1 }, "rest-rest": { a: 2 } },
    },
    "give a member that was scaled down no more than it should run": {
      waves: [{ name: "canary", pods: 4 }, { name: "all" }],
      members: [{ ...member("a", 2), floor: 4, wave: "canary" }, member("b", 4)],
      want: { canary: { a: 2, b: 2 }, all: { a: 2, b: 4 } },
    },
    "count what a member was given from the wave that gave it": {
      waves: [
        { name: "one", pods: 1 },
        { name: "half", pods: 3 },
      ],
      members: [member("a", 3), { ...member("b", 3), floor: 2, wave: "half" }],
      want: { one: { a: 1 }, half: { a: 1, b: 2 }, rest: { a: 3, b: 3 } },
    },
    "never have a member that has the revision and that they do not select": {
      waves: [{ name: "first", clusters: { names: ["b"] } }, { name: "all" }],
      members: [{ ...member("a", 3), floor: 3 }, member("b", 2)],
      want: { first: { b: 2 }, all: { a: 3, b: 2 } },
    },
    "do not count members that the rest has reached": {
      waves: [{ name: "first", clusters: { names: ["b"] } }],
      members: [
        { ...member("a", 3), floor: 3, wave: "rest" },
        { ...member("b", 2), floor: 2, wave: "first" },
      ],
      want: { first: { b: 2 }, rest: { a: 3, b: 2 } },
    },
  };
  for (const [behaviour, { waves, order = "Spread", unit = "Pods", members, isWhole = false, want }] of Object.entries(
    cases,
  ))
    test(behaviour, () => {
      expect(countsOf(planWaves({ waves, order, unit }, members, isWhole))).toEqual(want);
    });
});
