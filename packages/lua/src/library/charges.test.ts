/**
 * A script is stopped by its own engine, which reads the clock every 10,000 ticks. So no library function may do much
 * work without charging ticks for it: each one is called here with large arguments and a small budget.
 */
import { expect, test } from "vitest";
import { DEFAULT_BUDGET } from "../budget.ts";
import { LuaLimitError } from "../errors.ts";
import { compileScript } from "../script.ts";
import { baseFunctions } from "./base.ts";
import { mathFunctions } from "./math.ts";
import { osFunctions } from "./os.ts";
import { stringFunctions } from "./string.ts";
import { tableFunctions } from "./table.ts";

/**
 * Two reads of the clock. A native step over characters, such as a copy, counts 64 characters as one tick; a step of
 * our own code counts as one or more.
 */
const TICKS = 20_000;
const BUDGET = { ...DEFAULT_BUDGET, ticks: TICKS, deadlineMs: Infinity };
const CHARACTERS = 3_000_000;
const ITEMS = 200_000;

/** Functions whose work does not depend on the size of their arguments. */
const CONSTANT = new Set(
  [
    "assert error getmetatable ipairs next pairs pcall rawequal rawget rawset select setmetatable type xpcall",
    "collectgarbage getfenv setfenv newproxy module dofile load loadfile loadstring",
    "os.clock os.difftime os.time os.getenv os.execute os.exit os.remove os.rename os.setlocale os.tmpname",
    // Not supported: they fail at once.
    "_printregs string.dump string.gsub string.rep",
    // A tuple has at most some thousand values.
    "unpack string.char",
    // Strings are not copied, and nothing is printed.
    "tostring print table.getn table.maxn",
    ...Object.keys(mathFunctions).map((name) => `math.${name}`),
  ].flatMap((names) => names.split(" ")),
);

/** A call of each other function. `s` is a long string, `t` a long list of numbers. */
const calls: Record<string, string> = {
  tonumber: "tonumber(s)",
  "os.date": "os.date(s)",
  "string.byte": "s:byte(1, 200000)",
  "string.find": "s:find('y')",
  "string.format": "('%s%q'):format(s, s)",
  "string.gfind": "for _ in s:gfind('.') do end",
  "string.gmatch": "for _ in s:gmatch('.') do end",
  "string.len": "local n = #(s .. s)",
  "string.lower": "s:lower()",
  "string.match": "s:match('x*y')",
  "string.reverse": "s:reverse()",
  "string.sub": "s:sub(2)",
  "string.upper": "s:upper()",
  "table.concat": "table.concat(t)",
  "table.foreach": "table.foreach(t, function() end)",
  "table.foreachi": "table.foreachi(t, function() end)",
  "table.insert": "table.insert(t, 1, 1)",
  "table.remove": "table.remove(t, 1)",
  "table.sort": "table.sort(t)",
};

const names = [
  ...Object.keys(baseFunctions),
  ...Object.entries({ string: stringFunctions, table: tableFunctions, math: mathFunctions, os: osFunctions }).flatMap(
    ([library, functions]) => Object.keys(functions).map((name) => `${library}.${name}`),
  ),
];

test("every function of the library is known to be cheap, or is called here with large arguments", () => {
  expect(names.filter((name) => !CONSTANT.has(name) && !Object.hasOwn(calls, name))).toEqual([]);
});

const text = "x".repeat(CHARACTERS);
const list = Array.from({ length: ITEMS }, (_, index) => (index * 7) % 128);
for (const [name, call] of Object.entries(calls).filter(([name]) => names.includes(name) && !CONSTANT.has(name)))
  test(`${name} charges for large arguments: ${call}`, () => {
    // Few calls use up the budget, so a single one does no more work than fits between a few reads of the clock.
    const script = compileScript(`function F(s, t) for i = 1, 8 do ${call} end end`);

    expect(() => script.call("F", [text, list], BUDGET)).toThrow(LuaLimitError);
  });

test.each(["floor", "max", "atan2", "fmod", "ldexp"])("math.%s charges for a long numeral", (name) => {
  const script = compileScript(
    `function F(s) for i = 1, 8 do math.${name}(s, ${name === "ldexp" ? "1" : "s"}) end end`,
  );

  expect(() => script.call("F", ["0".repeat(CHARACTERS)], BUDGET)).toThrow(LuaLimitError);
});

const numerals: Record<string, string> = {
  "digits that are not a number": `${"0".repeat(100_000)}!`,
  "hexadecimal digits without an exponent": `0x${"a".repeat(100_000)}g`,
  "digits with underscores": `${"1_".repeat(50_000)}!`,
};
for (const [what, text] of Object.entries(numerals))
  test(`${what} are read in linear time`, () => {
    const script = compileScript("function F(s) return pcall(function() return s + 1 end) end");

    const result = script.call("F", [text], DEFAULT_BUDGET);

    expect(result).toBeDefined();
  });
