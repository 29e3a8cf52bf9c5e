/**
 * Random expressions over integers, booleans, strings and lists, compared with an evaluation of the tree that generated
 * their text: precedence, overflow, division by zero, errors that logic absorbs, and costs within their static bounds.
 */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileCel } from "./compile.ts";
import { CelError, CelList, type CelValue } from "../values/values.ts";

type Value = bigint | boolean | string | readonly Value[];
/** Represents every error: which of two errors is reported is unspecified. */
const FAILS = Symbol("fails");
type Outcome = Value | typeof FAILS;

interface Tree {
  /** The precedence of the expression: 1 is a ternary, 8 a call or a literal. */
  readonly binds: number;
  text(everyBracket: boolean): string;
  value(): Outcome;
}

const MAX = 2n ** 63n - 1n;
const MIN = -(2n ** 63n);
const within = (value: bigint): Outcome => (value > MAX || value < MIN ? FAILS : value);

const literal = (value: Value): Tree => ({
  binds: typeof value === "bigint" && value < 0n ? 7 : 8,
  text: () => textOf(value),
  value: () => value,
});
const textOf = (value: Value): string =>
  typeof value === "string"
    ? JSON.stringify(value)
    : Array.isArray(value)
      ? `[${value.map(textOf).join(", ")}]`
      : String(value);
const wrapped = (tree: Tree, least: number, everyBracket: boolean): string =>
  everyBracket || tree.binds < least ? `(${tree.text(everyBracket)})` : tree.text(everyBracket);

/** A binary operator that fails when one of its operands does. */
function binary(operator: string, binds: number, left: Tree, right: Tree, run: (a: never, b: never) => Outcome): Tree {
  return {
    binds,
    text: (all) => `${wrapped(left, binds, all)} ${operator} ${wrapped(right, binds + 1, all)}`,
    value() {
      const [a, b] = [left.value(), right.value()];
      return a === FAILS || b === FAILS ? FAILS : run(a as never, b as never);
    },
  };
}

/** An empty list literal contains nothing, so errors of the other operand are not detected. */
function membership(item: Tree, items: Tree): Tree {
  const tree = binary("in", 4, item, items, (x: bigint, y: readonly Value[]) => y.includes(x));
  return items.text(false) === "[]" ? { ...tree, value: () => false } : tree;
}

/** `&&` and `||`: an operand that decides does so regardless of the other. */
function logic(operator: "&&" | "||", left: Tree, right: Tree): Tree {
  const decides = operator === "||";
  const binds = operator === "||" ? 2 : 3;
  return {
    binds,
    text: (all) => `${wrapped(left, binds, all)} ${operator} ${wrapped(right, binds + 1, all)}`,
    value() {
      const sides = [left.value(), right.value()];
      return sides.includes(decides) ? decides : sides.includes(FAILS) ? FAILS : !decides;
    },
  };
}

const choice = (condition: Tree, yes: Tree, no: Tree): Tree => ({
  binds: 1,
  text: (all) => `${wrapped(condition, 2, all)} ? ${wrapped(yes, 2, all)} : ${wrapped(no, 1, all)}`,
  value() {
    const decided = condition.value();
    return decided === FAILS ? FAILS : decided === true ? yes.value() : no.value();
  },
});

const unary = (operator: "!" | "-", operand: Tree, run: (value: never) => Outcome): Tree => ({
  binds: 7,
  text: (all) => `${operator}${wrapped(operand, 8, all)}`,
  value() {
    const value = operand.value();
    return value === FAILS ? FAILS : run(value as never);
  },
});

const call = (target: Tree, name: string, args: readonly Tree[], run: (...values: never[]) => Outcome): Tree => ({
  binds: 8,
  text: (all) => `${wrapped(target, 8, all)}.${name}(${args.map((arg) => arg.text(all)).join(", ")})`,
  value() {
    const values = [target, ...args].map((tree) => tree.value());
    return values.includes(FAILS) ? FAILS : run(...(values as never[]));
  },
});

const list = (items: readonly Tree[]): Tree => ({
  binds: 8,
  text: (all) => `[${items.map((item) => item.text(all)).join(", ")}]`,
  value() {
    const values = items.map((item) => item.value());
    return values.includes(FAILS) ? FAILS : (values as Value[]);
  },
});

const divide = (a: bigint, b: bigint): Outcome => (b === 0n ? FAILS : within(a / b));
const remainder = (a: bigint, b: bigint): Outcome => (b === 0n || (a === MIN && b === -1n) ? FAILS : a % b);

const trees = fc.letrec<{ int: Tree; bool: Tree; text: Tree; list: Tree }>((tie) => ({
  int: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc
      .oneof(
        fc.bigInt({ min: -9n, max: 9n }),
        fc.constantFrom(0n, MAX, MIN, MAX - 1n, 2n ** 53n, -(2n ** 53n), 2n ** 32n),
      )
      .map(literal),
    fc.tuple(tie("int"), tie("int")).map(([a, b]) => binary("+", 5, a, b, (x: bigint, y: bigint) => within(x + y))),
    fc.tuple(tie("int"), tie("int")).map(([a, b]) => binary("-", 5, a, b, (x: bigint, y: bigint) => within(x - y))),
    fc.tuple(tie("int"), tie("int")).map(([a, b]) => binary("*", 6, a, b, (x: bigint, y: bigint) => within(x * y))),
    fc.tuple(tie("int"), tie("int")).map(([a, b]) => binary("/", 6, a, b, divide)),
    fc.tuple(tie("int"), tie("int")).map(([a, b]) => binary("%", 6, a, b, remainder)),
    tie("int").map((a) => unary("-", a, (x: bigint) => within(-x))),
    fc.tuple(tie("bool"), tie("int"), tie("int")).map(([a, b, c]) => choice(a, b, c)),
    tie("text").map((a) => call(a, "size", [], (x: string) => BigInt(Array.from(x).length))),
    tie("list").map((a) => call(a, "size", [], (x: readonly Value[]) => BigInt(x.length))),
  ),
  bool: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.boolean().map(literal),
    fc.tuple(tie("bool"), tie("bool")).map(([a, b]) => logic("&&", a, b)),
    fc.tuple(tie("bool"), tie("bool")).map(([a, b]) => logic("||", a, b)),
    fc.tuple(tie("int"), tie("int")).map(([a, b]) => binary("<", 4, a, b, (x: bigint, y: bigint) => x < y)),
    fc.tuple(tie("int"), tie("int")).map(([a, b]) => binary(">=", 4, a, b, (x: bigint, y: bigint) => x >= y)),
    fc.tuple(tie("int"), tie("int")).map(([a, b]) => binary("==", 4, a, b, (x: bigint, y: bigint) => x === y)),
    fc.tuple(tie("text"), tie("text")).map(([a, b]) => binary("<=", 4, a, b, (x: string, y: string) => x <= y)),
    fc
      .tuple(tie("list"), tie("list"))
      .map(([a, b]) =>
        binary(
          "!=",
          4,
          a,
          b,
          (x: readonly Value[], y: readonly Value[]) => String(x) !== String(y) || x.length !== y.length,
        ),
      ),
    fc.tuple(tie("int"), tie("list")).map(([a, b]) => membership(a, b)),
    fc
      .tuple(tie("text"), tie("text"))
      .map(([a, b]) => call(a, "contains", [b], (x: string, y: string) => x.includes(y))),
    tie("bool").map((a) => unary("!", a, (x: boolean) => !x)),
    fc.tuple(tie("bool"), tie("bool"), tie("bool")).map(([a, b, c]) => choice(a, b, c)),
  ),
  text: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom("", "a", "ab", "é", "👩").map(literal),
    fc.tuple(tie("text"), tie("text")).map(([a, b]) => binary("+", 5, a, b, (x: string, y: string) => x + y)),
    fc.tuple(tie("bool"), tie("text"), tie("text")).map(([a, b, c]) => choice(a, b, c)),
  ),
  list: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.array(tie("int"), { maxLength: 3 }).map(list),
    fc
      .tuple(tie("list"), tie("list"))
      .map(([a, b]) => binary("+", 5, a, b, (x: readonly Value[], y: readonly Value[]) => [...x, ...y])),
  ),
}));

const BUDGET = 1e9;

function evaluate(source: string): { outcome: Outcome; used: number; max: number } {
  const { program, errors } = compileCel(source, { variables: {} });
  if (!program) throw new Error(`${source}: ${errors}`);
  const budget = { remaining: BUDGET };
  const value = program.evaluate({}, budget);
  return {
    outcome: value instanceof CelError ? FAILS : plain(value),
    used: BUDGET - budget.remaining,
    max: program.cost.max,
  };
}

function plain(value: CelValue): Value {
  if (typeof value === "number") return BigInt(value);
  if (value instanceof CelList) return Array.from({ length: value.size }, (_, index) => plain(value.at(index)));
  return value as Value;
}

describe("a random expression", () => {
  const anyTree = fc.oneof(trees.int, trees.bool, trees.text, trees.list);

  test("has the value of its tree, with all parentheses and with only the required ones", () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        const want = tree.value();

        for (const text of [tree.text(true), tree.text(false)]) expect(evaluate(text).outcome, text).toEqual(want);
      }),
      { numRuns: 150 },
    );
  });

  test("costs no more than the estimate", () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        const { used, max } = evaluate(tree.text(false));

        expect(used).toBeLessThanOrEqual(max);
      }),
      { numRuns: 150 },
    );
  });

  test("gives the same result when the operands of && and || are swapped", () => {
    fc.assert(
      fc.property(trees.bool, trees.bool, fc.constantFrom("&&", "||"), (left, right, operator) => {
        const [a, b] = [left.text(true), right.text(true)];

        expect(evaluate(`(${a}) ${operator} (${b})`).outcome).toBe(evaluate(`(${b}) ${operator} (${a})`).outcome);
      }),
      { numRuns: 80 },
    );
  });

  test("agrees with loops for the macros all, exists, filter and map", () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: -3n, max: 3n }), { maxLength: 5 }),
        fc.constantFrom("x > 0", "x % 2 == 0", "6 / x > 1"),
        (numbers, condition) => {
          const each = numbers.map((number) => evaluate(condition.replaceAll("x", `(${number})`)).outcome);
          const items = textOf(numbers);
          const all = each.includes(false) ? false : each.includes(FAILS) ? FAILS : true;
          const some = each.includes(true) ? true : each.includes(FAILS) ? FAILS : false;

          expect(evaluate(`${items}.all(x, ${condition})`).outcome).toBe(all);
          expect(evaluate(`${items}.exists(x, ${condition})`).outcome).toBe(some);
          expect(evaluate(`${items}.filter(x, ${condition})`).outcome).toEqual(
            each.includes(FAILS) ? FAILS : numbers.filter((_, index) => each[index] === true),
          );
          expect(evaluate(`${items}.map(x, x * 2)`).outcome).toEqual(numbers.map((number) => number * 2n));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("any input string", () => {
  test("compiles or is rejected with a reason", () => {
    const word = fc.constantFrom(
      "1",
      "true",
      "'a'",
      "x",
      "(",
      ")",
      "[",
      "]",
      "{",
      "}",
      ".",
      ",",
      "?",
      ":",
      "&&",
      "||",
      "!",
      "-",
      "+",
      "==",
      "in",
      "has(",
      ".all(",
      "0x",
      "1u",
      "1e9",
      '"',
      "\\",
      " ",
      "\n",
      "//",
      "é",
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const { program, errors } = compileCel(words.join(""), { variables: {} });

        const outcome = program ? program.evaluate({}, { remaining: 1000 }) : errors;
        expect(outcome).toBeDefined();
        expect(program !== undefined || /^(compilation|program instantiation) failed: /.test(errors ?? "")).toBe(true);
      }),
      { numRuns: 600 },
    );
  });
});
