import { expect, test } from "vitest";
import { readDocuments } from "./documents.ts";

const SCRIPT = "spec.customizations.retention.luaScript";
const read = (text: string): ReturnType<typeof readDocuments> => readDocuments({ name: "rules.yaml", text });

test("documents begin at their first line with text, and empty ones are skipped", () => {
  const documents = read("# first\n---\na: 1\n---\n---\n# second\n\nb: 2\n");

  expect(documents.map(({ value, line }) => ({ value, line }))).toEqual([
    { value: { a: 1 }, line: 3 },
    { value: { b: 2 }, line: 8 },
  ]);
});

test("an error is reported with the line of the file, not of the document", () => {
  expect(() => read("a: 1\n---\nb: 2\nc: [\n")).toThrow(/^reading rules\.yaml: .*line [45]/);
});

test("lines of a quoted string may be under-indented, as Go's parser allows", () => {
  expect(read("a:\n  - b: 'one\n  two'\n    c: 3\n")[0]?.value).toEqual({ a: [{ b: "one two", c: 3 }] });
});

const scripts: Record<
  string,
  { text: string; at: [line: number, column?: number]; want: { line: number; column: number } }
> = {
  "in a literal block": {
    text: "spec:\n  customizations:\n    retention:\n      luaScript: |\n        one\n          two\n",
    at: [2, 3],
    want: { line: 6, column: 11 },
  },
  "after an empty line": {
    text: "spec:\n  customizations:\n    retention:\n      luaScript: |\n\n        one\n\n        two\n",
    at: [4, 1],
    want: { line: 8, column: 9 },
  },
  "in a folded block": {
    text: "spec:\n  customizations:\n    retention:\n      luaScript: >\n        one two\n        three\n          four\n",
    at: [1, 9],
    want: { line: 6, column: 9 },
  },
  "after folded lines": {
    text: "spec:\n  customizations:\n    retention:\n      luaScript: >\n        one\n        two\n          three\n",
    at: [2, 3],
    want: { line: 7, column: 11 },
  },
  "in a second document": {
    text: "a: 1\n---\nspec:\n  customizations:\n    retention:\n      luaScript: |-\n        one\n",
    at: [1, 2],
    want: { line: 7, column: 10 },
  },
  "after multi-byte characters": {
    text: "spec:\n  customizations:\n    retention:\n      luaScript: |\n        é = 漢\n",
    at: [1, 6],
    want: { line: 5, column: 13 },
  },
};
for (const [where, { text, at, want }] of Object.entries(scripts)) {
  test(`the position of a script is known ${where}`, () => {
    const script = read(text).at(-1)?.scripts.get(SCRIPT);

    expect(script?.placeOf(...at)).toEqual(want);
  });
}

test("a quoted script has no position", () => {
  expect(read('spec: {customizations: {retention: {luaScript: "return 1"}}}')[0]?.scripts.size).toBe(0);
});

test("a position is shown as the line of the file with markers below, even after tabs", () => {
  const script = read(
    "spec:\n  customizations:\n    retention:\n      luaScript: |\n        \tlocal x\n",
  )[0]?.scripts.get(SCRIPT);

  expect(script?.excerpt({ line: 5, column: 10 }, 5)).toBe("  5 |         \tlocal x\n    |         \t^^^^^");
});
