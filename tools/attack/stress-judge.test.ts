import { describe, expect, test } from "vitest";
import { deliveryOf, renderStress, stressProblems, type Delivery, type StressObservation } from "./stress-judge.ts";

const delivery = (p99Ms: number, more: Partial<Delivery> = {}): Delivery => ({
  changes: 500,
  p50Ms: 50,
  p99Ms,
  longestMs: p99Ms,
  lost: 0,
  failures: [],
  ...more,
});
const observed = (more: Partial<StressObservation> = {}): StressObservation => ({
  minutes: 5,
  quiet: delivery(100),
  stress: delivery(190),
  isHubAlive: true,
  thefts: [],
  broken: [],
  visits: { agents: 3 },
  idleMiB: 200,
  peakMiB: 600,
  laterMiB: 300,
  laterSeconds: 2,
  ...more,
});

test("the figures of deliveries are percentiles", () => {
  const times = Array.from({ length: 100 }, (_, index) => index + 1);

  expect(deliveryOf(times, 2, ["x"])).toEqual({
    changes: 100,
    p50Ms: 51,
    p99Ms: 100,
    longestMs: 100,
    lost: 2,
    failures: ["x"],
  });
});

const cases: Record<string, { more?: Partial<StressObservation>; problems: string[] }> = {
  "holds within all limits": { problems: [] },
  "breaks when deliveries take more than twice as long": {
    more: { stress: delivery(201) },
    problems: ["p99 of deliveries 201 ms, more than 2 times 100 ms of the quiet phase"],
  },
  "breaks when a canary was stolen": { more: { thefts: ["a token"] }, problems: ["stolen: a token"] },
  "breaks when the hub has ended": { more: { isHubAlive: false }, problems: ["the hub's process has ended"] },
  "breaks when a change was lost": {
    more: { stress: delivery(100, { lost: 1 }) },
    problems: ["1 changes did not reach a member in time"],
  },
  "breaks when a hostile party never acted: nothing was shown": {
    more: { visits: { agents: 0 } },
    problems: ["agents never acted"],
  },
  "breaks when the memory stays": { more: { laterMiB: 600 }, problems: ["600 MiB a minute later, 200 MiB before"] },
  "breaks when the memory grows without bound": {
    more: { peakMiB: 2_000 },
    problems: ["memory grew from 200 to 2000 MiB"],
  },
};
describe("a stress run", () => {
  for (const [name, { more, problems }] of Object.entries(cases))
    test(name, () => expect(stressProblems(observed(more))).toEqual(problems));
});

test("the report has both phases and what hostile parties did", () => {
  expect(renderStress(observed(), [])).toBe(
    [
      "held       stress of 5 minutes: hostile members, agents and tenants together under load",
      "           tried      agents 3",
      "           quiet      500 deliveries, p50 50 ms, p99 100 ms, longest 100 ms, 0 lost",
      "           stress      500 deliveries, p50 50 ms, p99 190 ms, longest 190 ms, 0 lost",
      "           memory     200 MiB before, 600 MiB at most, 300 MiB 2 s later",
      "",
    ].join("\n"),
  );
});
