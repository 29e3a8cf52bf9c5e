import { expect, test } from "vitest";
import { planWaves } from "./plan-waves.ts";
import type { PlannedWave, WaveMember } from "./plan-waves.ts";

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
