import { describe, expect, test } from "vitest";
import { isInRange, ordinalsIn, rangeOf, reservedOf } from "./ordinals.ts";

describe("Reserved ordinals", () => {
  test("overlap and touch without being counted twice", () => {
    expect(reservedOf(["3-5", 4, 6, "0-1"])).toEqual([
      { from: 0, to: 1 },
      { from: 3, to: 6 },
    ]);
  });

  test("are all ignored if one of them is invalid", () => {
    expect([["5-3"], [1, "x"], ["1-2-3"], ["7"], ["1-99999999999999999999"]].map(reservedOf)).toEqual([
      [],
      [],
      [],
      [],
      [],
    ]);
  });

  test("may be millions at no cost", () => {
    const range = rangeOf(0, 2_000_000_000, reservedOf(["0-1999999999", "2000000001-2000000002"]));

    const ordinals = ordinalsIn(range);

    expect([ordinals.next().value, ordinals.next().value]).toEqual([2_000_000_000, 2_000_000_003]);
    expect(range.end).toBe(4_000_000_002);
    expect([1_999_999_999, 2_000_000_000, 2_000_000_001].map((ordinal) => isInRange(range, ordinal))).toEqual([
      false,
      true,
      false,
    ]);
  });

  test("Reserved ordinals before the first ordinal or after the last change nothing", () => {
    expect([...ordinalsIn(rangeOf(2, 3, reservedOf([0, "5-9"])))]).toEqual([2, 3, 4]);
  });
});
