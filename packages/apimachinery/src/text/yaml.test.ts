import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "@flotilla/base";
import { formatYaml, parseYaml, parseYamlBody, parseYamlDocuments } from "./yaml.ts";
import { walkYaml } from "../yaml-walk.ts";

describe("scalars are parsed as in Kubernetes", () => {
  const cases: [text: string, want: Json][] = [
    ["yes", true],
    ["Off", false],
    ["~", null],
    ["0777", 511],
    ["0o17", 15],
    ["0x1F", 31],
    ["1_000", 1000],
    ["-5", -5],
    ["1.10", 1.1],
    ["1e3", 1000],
    ["22:22", "22:22"],
    ["2024-01-01", "2024-01-01"],
    ["'1'", "1"],
    ["1.2.3", "1.2.3"],
    ["08", 8],
    ["y", true],
    ["100m", "100m"],
  ];
  test.each(cases)("%s", (text, want) => {
    expect(parseYaml(`a: ${text}`)).toEqual({ a: want });
  });
});

test("keys are always strings", () => {
  expect(parseYaml("1: a\ntrue: b\n")).toEqual({ "1": "a", true: "b" });
});

test("JSON is YAML", () => {
  expect(parseYaml('{"a": [1, {"b": "c"}]}')).toEqual({ a: [1, { b: "c" }] });
});

test("documents are separated by dashes, and empty ones are omitted", () => {
  expect(parseYamlDocuments("---\na: 1\n---\n# nothing\n---\nb: 2\n")).toEqual([{ a: 1 }, { b: 2 }]);
  expect(parseYaml("")).toBeNull();
});

test("aliases are copied, and merge keys are merged", () => {
  const parsed = parseYaml("base: &b {x: 1}\nuse: *b\nmerged: {<<: *b, z: 2}\n") as Record<string, Json>;

  expect(parsed).toEqual({ base: { x: 1 }, use: { x: 1 }, merged: { x: 1, z: 2 } });
  expect(parsed["use"]).not.toBe(parsed["base"]);
});

test("a short text with excessive aliases is rejected", () => {
  const text = `a: &a [${"x,".repeat(500)}]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [${"*b,".repeat(100)}]\n`;

  expect(() => parseYaml(text)).toThrow("document contains excessive aliasing");
});

test("a moderate number of aliases is expanded", () => {
  const text = `base: &base {image: web, ports: [80, 443]}\nall: [${"*base, ".repeat(200)}]\n`;

  expect((parseYaml(text) as { all: unknown[] }).all).toHaveLength(200);
});

test("aliases that multiply are rejected", () => {
  const levels = Array.from(
    { length: 9 },
    (_, level) => `l${level + 1}: &l${level + 1} [${Array.from({ length: 9 }, () => `*l${level}`).join()}]`,
  );

  expect(() => parseYaml(["l0: &l0 [x]", ...levels].join("\n"))).toThrow("document contains excessive aliasing");
});

test("a syntax error is a bad request that names the line", () => {
  expect(() => parseYaml("a: 1\nb: [1\n")).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/^error converting YAML to JSON: yaml: line \d+: /) as unknown,
      code: "BadRequest",
    }),
  );
});

test("the last of duplicate keys wins, unless keys must be unique", () => {
  expect(parseYaml("a: 1\na: 2\n")).toEqual({ a: 2 });
  expect(() => parseYaml("a: 1\na: 2\n", { uniqueKeys: true })).toThrow("duplicated mapping key");
});

test("__proto__ is an ordinary key", () => {
  expect(JSON.stringify(parseYaml("__proto__: {polluted: true}"))).toBe('{"__proto__":{"polluted":true}}');
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("text that would parse as another type is quoted", () => {
  expect(formatYaml({ b: [{ d: 1, c: "yes" }], a: "1" })).toBe('a: "1"\nb:\n- c: "yes"\n  d: 1\n');
});

test("formatted YAML parses to the same value", () => {
  const value = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.string(),
      fc.constantFrom("y", "0x1", "1:2", "~", "- a", "<<", "2024-01-01", "1e3", ".5", "_"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie("value"), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;
  fc.assert(
    fc.property(value, (given) => {
      expect(parseYaml(formatYaml({ given }))).toEqual({ given });
    }),
  );
});

test("duplicate keys are reported with the line of their value, and the last one wins", () => {
  const text = "data:\n  a: b\n  a: c\n  l: [1, {x: 1, x: 2}]\n  m:\n    k: 1\n  m:\n    j: 2\n";

  const { value, repeated } = parseYamlBody(text);

  expect(value).toEqual({ data: { a: "c", l: [1, { x: 2 }], m: { j: 2 } } });
  expect(repeated).toEqual([
    'line 3: key "a" already set in map',
    'line 4: key "x" already set in map',
    'line 8: key "m" already set in map',
  ]);
});

test("a body without duplicate keys reports none", () => {
  expect(parseYamlBody("a: 1\nb: [a, a]\n")).toEqual({ value: { a: 1, b: ["a", "a"] }, repeated: [] });
});

describe("walking over the nodes of a text", () => {
  const nodesOf = (text: string): [string, string][] =>
    Array.from(walkYaml(text), ({ kind, path }) => [kind, path.join("/")]);

  test("yields keys and values with their paths", () => {
    expect(nodesOf("a:\n- b: 1\n- *c\n")).toEqual([
      ["mapping", ""],
      ["key", "a"],
      ["sequence", "a"],
      ["mapping", "a/0"],
      ["key", "a/0/b"],
      ["scalar", "a/0/b"],
      ["alias", "a/1"],
    ]);
  });

  test("a key that is a list does not shift the paths behind it", () => {
    expect(nodesOf("? [x]\n: y\nb: 1\n").slice(1)).toEqual([
      ["sequence", "?"],
      ["scalar", "?/0"],
      ["scalar", "?"],
      ["key", "b"],
      ["scalar", "b"],
    ]);
  });
});
