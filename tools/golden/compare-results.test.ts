import { describe, expect, test } from "vitest";
import { compareResults, equalGolden } from "./compare-results.ts";
import type { GoldenCase } from "./golden.ts";

describe("a result", () => {
  const cases: Record<
    string,
    { got: Parameters<typeof equalGolden>[0]; want: Parameters<typeof equalGolden>[1]; equal: boolean }
  > = {
    "equals itself in another key order": { got: { a: 1, b: [2] }, want: { b: [2], a: 1 }, equal: true },
    "equals nil if it is empty": { got: { list: [], object: {} }, want: { list: null }, equal: true },
    "differs in a value": { got: { a: 1 }, want: { a: 2 }, equal: false },
    "differs by a key": { got: { a: 1 }, want: { a: 1, b: 2 }, equal: false },
    "differs in the order of a list": { got: [1, 2], want: [2, 1], equal: false },
    "differs if false replaces an absent value": { got: { a: false }, want: {}, equal: false },
  };
  for (const [behaviour, { got, want, equal }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(equalGolden(got, want)).toBe(equal);
    });
  }
});

describe("a case", () => {
  const echo = compareResults({ run: (input) => input });
  const fails = (errorTextMatters: boolean) =>
    compareResults({
      errorTextMatters,
      run() {
        throw new Error("no room");
      },
    });

  const line = (more: Partial<GoldenCase>): GoldenCase => ({ name: "case", ...more });

  test("passes with any of its accepted results", () => {
    expect(echo.check(line({ input: { a: 2 }, wantAnyOf: [{ a: 1 }, { a: 2 }] }))).toBeUndefined();
    expect(echo.check(line({ input: { a: 3 }, wantAnyOf: [{ a: 1 }, { a: 2 }] }))).toBe(
      'got {"a":3}, want {"a":1} or {"a":2}',
    );
  });

  test("a case with an error needs an error, and its text only if users see it", () => {
    const want = { error: "no space" };

    expect(fails(false).check(line({ want }))).toBeUndefined();
    expect(fails(true).check(line({ want }))).toBe('got {"error":"no room"}, want {"error":"no space"}');
    expect(echo.check(line({ input: {}, want }))).toBe('got {}, want {"error":"no space"}');
  });

  test("where the original crashed needs an error", () => {
    expect(fails(true).check(line({ want: { panic: "index out of range" } }))).toBeUndefined();
  });
});
