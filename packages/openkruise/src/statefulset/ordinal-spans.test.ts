import { array, assert, nat, property } from "fast-check";
import { expect, test } from "vitest";
import { formatSpans, gapsIn, outside, parseSpans, spansInclude, spansOf } from "./ordinal-spans.ts";

test("reserved ordinals are parsed in any order and merged where adjacent", () => {
  expect(parseSpans([7, "2-4", 5, "3-3"])).toEqual([
    { first: 2, last: 5 },
    { first: 7, last: 7 },
  ]);
  expect(formatSpans(parseSpans([7, "2-4", 5]))).toEqual(["2-5", 7]);
});

test.each(["a", "5-2", "1-2-3", "-1", 1.5, "9999999999"])("rejects reserved ordinals such as %s", (entry) => {
  expect(() => parseSpans([entry])).toThrow("is neither an ordinal nor a range");
});

test("handles millions of reserved ordinals cheaply", () => {
  const spans = parseSpans(["1-2000000000"]);

  expect(outside(spans, 0).take(3).toArray()).toEqual([0, 2_000_000_001, 2_000_000_002]);
  expect(spansInclude(spans, 1_234_567)).toBe(true);
});

test("outside() and gapsIn() agree with checking every ordinal", () => {
  assert(
    property(array(nat(40), { maxLength: 20 }), nat(10), (reserved, start) => {
      const spans = parseSpans(reserved);
      const free = Array.from({ length: 80 }, (_each, ordinal) => ordinal)
        .filter((ordinal) => ordinal >= start && !reserved.includes(ordinal))
        .slice(0, 20);

      expect(outside(spans, start).take(20).toArray()).toEqual(free);
      expect(reserved.every((ordinal) => spansInclude(spans, ordinal))).toBe(true);
      expect(free.some((ordinal) => spansInclude(spans, ordinal))).toBe(false);
      const within = reserved.filter((ordinal) => ordinal >= start && ordinal < (free.at(-1) ?? 0));
      expect(gapsIn(free, start)).toEqual(spansOf([...new Set(within)].sort((a, b) => a - b)));
    }),
    { seed: 5, numRuns: 300 },
  );
});
