/** Hostile expressions and data: limits of depth, length, time and cost. */
import { describe, expect, test } from "vitest";
import { ArrayList } from "../values/collections.ts";
import { compileCel } from "./compile.ts";
import { compilePattern } from "@flotilla/apimachinery";
import { DYN, listOf, STRING } from "../types/types.ts";
import { CelError, type CelValue } from "../values/values.ts";

function evaluate(source: string, bindings: Record<string, CelValue> = {}): CelValue | CelError | string {
  const compiled = compileCel(source, { variables: { s: STRING, l: listOf(STRING), x: DYN } });
  return compiled.program ? compiled.program.evaluate(bindings, { remaining: 1e9 }) : compiled.errors;
}

const refused: Record<string, string> = {
  "deep parentheses": `${"(".repeat(10_000)}1${")".repeat(10_000)}`,
  "deep lists": `${"[".repeat(10_000)}${"]".repeat(10_000)}`,
  "deep ternaries": "true ? true : ".repeat(5000),
  "long chains of fields": `x${".a".repeat(10_000)}`,
  "long sums": `1${" + 1".repeat(10_000)}`,
};
for (const [what, source] of Object.entries(refused)) {
  test(`${what} are rejected at compile time`, () => {
    expect(evaluate(source)).toMatch(
      /^compilation failed: ERROR: <input>:-1:0: (expression recursion limit exceeded: 250|max recursion depth exceeded)$/,
    );
  });
}

test("nested parenthesized operators count toward the depth limit with their sum", () => {
  const nested = Array.from({ length: 100 }).reduce<string>((inner) => `(${inner} + 1 + 1 + 1)`, "1");

  expect(evaluate(nested)).toBe("compilation failed: ERROR: <input>:-1:0: max recursion depth exceeded");
});

test("an expression of more than 100,000 characters is rejected", () => {
  expect(evaluate(`'${"a".repeat(100_000)}'`)).toBe(
    "compilation failed: ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100002, limit 100000",
  );
});

test("beyond a limit, errors are counted instead of listed", () => {
  const source = Array.from({ length: 150 }, (_, index) => `v${index}`).join(" && ");

  expect(evaluate(source)).toMatch(/\n50 more errors were truncated$/);
});

test("a pattern that causes backtracking elsewhere runs in linear time", () => {
  expect(evaluate("s.matches('(a+)+$')", { s: `${"a".repeat(50_000)}b` })).toBe(false);
  expect(compilePattern("(a|aa)+$").find(`${"a".repeat(2000)}b`, 0)).toBeUndefined();
});

test("a replacement whose result is as long as the product of two texts ends with the cost limit", () => {
  const exceeded = new CelError("operation cancelled: actual cost limit exceeded");
  const s = "a".repeat(30_000);

  expect(evaluate("s.replace('a', s)", { s })).toEqual(exceeded);
  expect(evaluate("s.replace('', s)", { s })).toEqual(exceeded);
  expect(evaluate("size(s.replace('a', s, 3))", { s })).toEqual(119_997);
});

describe("a search is charged for its actual steps", () => {
  const exceeded = new CelError("operation cancelled: actual cost limit exceeded");
  const text = "ab".repeat(50_000);
  const searches = [
    "s.matches('^[ab]*a[ab]{900}$')",
    "s.find('[ab]*a[ab]{900}c') == ''",
    "size(s.findAll('a(.*c)?')) > 0",
  ];

  for (const source of searches) {
    test(`${source} ends at the limit of a call`, () => {
      expect(evaluate(source, { s: text })).toEqual(exceeded);
    });
  }

  test("many searches that are each cheaper than their steps end there too", () => {
    const l = new ArrayList(Array.from({ length: 200 }, () => "ab".repeat(500)));

    expect(evaluate("l.all(e, l.all(f, !f.matches('^[ab]*a[ab]{900}c$')))", { l })).toEqual(exceeded);
  });

  test("evaluations that share a budget share the free search steps", () => {
    const { program } = compileCel("s.matches('^[ab]*a[ab]{900}c$')", { variables: { s: STRING } });
    const budget = { remaining: 1e9 };
    const costs = Array.from({ length: 40 }, () => {
      const before = budget.remaining;
      program?.evaluate({ s: "ab".repeat(500) }, budget);
      return before - budget.remaining;
    });

    expect(costs[0]).toBe(506);
    expect(costs[39]).toBeGreaterThan(10 * 506);
  });
});

test("a long string that is not a quantity is rejected in linear time", () => {
  const refused = evaluate("quantity(s)", { s: `${"1".repeat(1_000_000)}x` });

  expect(refused).toEqual(
    new CelError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
  );
});

test("nested loops end at the cost limit of a call", () => {
  const l = new ArrayList(Array.from({ length: 500 }, () => "x"));

  const result = evaluate("l.all(a, l.all(b, l.all(c, a == b && b == c)))", { l });

  expect(result).toEqual(new CelError("operation cancelled: actual cost limit exceeded"));
});

test("a range too large for the cost limit is not allocated", () => {
  expect(evaluate("lists.range(9223372036854775807)")).toBeInstanceOf(CelError);
});

test("names of JavaScript's own properties are ordinary names", () => {
  expect(evaluate("constructor")).toBe(
    "compilation failed: ERROR: <input>:1:1: undeclared reference to 'constructor' (in container '')\n | constructor\n | ^",
  );
  expect(evaluate("{'__proto__': 1}.__proto__")).toBe(1);
  expect(evaluate("{}.toString")).toEqual(new CelError("no such key: toString"));
});
