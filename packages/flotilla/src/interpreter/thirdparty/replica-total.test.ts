import { expect, test } from "vitest";
import { replicaTotal } from "./replica-total.ts";

const cases: Record<string, { counts: number[]; want: number }> = {
  "is the sum of the groups": { counts: [1, 2, 3], want: 6 },
  "of no groups is zero": { counts: [], want: 0 },
  "is an integer": { counts: [1, 1.5], want: 2 },
  "that does not fit into 32 bits is the smallest number": { counts: [1, 3_000_000_000], want: -2_147_483_648 },
};
for (const [behaviour, { counts, want }] of Object.entries(cases)) {
  test(`a total ${behaviour}`, () => {
    expect(replicaTotal(counts)).toBe(want);
  });
}
