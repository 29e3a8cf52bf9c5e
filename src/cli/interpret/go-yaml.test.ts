import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../base/index.ts";
import { parseYaml } from "../../machinery/index.ts";
import { formatGoYaml } from "./go-yaml.ts";

// Recorded from karmadactl v1.18.1, which printed each string as the item of a list.
const texts: readonly (readonly [text: string, printed: string])[] = [
  ["plain", "- plain"],
  ["yes", '- "yes"'],
  ["N", '- "N"'],
  ["null", '- "null"'],
  ["", '- ""'],
  ["1e3", '- "1e3"'],
  ["0o7", '- "0o7"'],
  ["1_000", '- "1_000"'],
  ["12:30", '- "12:30"'],
  ["2020-01-01", '- "2020-01-01"'],
  [" lead", "- ' lead'"],
  ["a: b", "- 'a: b'"],
  ["a #b", "- 'a #b'"],
  ["'q'", "- '''q'''"],
  ["a'b", "- a'b"],
  ["- a", "- '- a'"],
  ["---", "- '---'"],
  ["http://x", "- http://x"],
  ["=", "- ="],
  ["tab\there", '- "tab\\there"'],
  ["é 漢字 😀", '- "é 漢字 \\U0001F600"'],
  ["é 漢字", "- é 漢字"],
  ["\u0001", '- "\\x01"'],
  ["multi\nline", "- |-\n  multi\n  line"],
  ["multi\nline\n", "- |\n  multi\n  line"],
  ["multi\n\n", "- |+\n  multi\n"],
  [" \n x", '- " \\n x"'],
  ["long ".repeat(20).trim(), `- ${"long ".repeat(16).trim()}\n  ${"long ".repeat(4).trim()}`],
  [`long: ${"long ".repeat(20).trim()}`, `- 'long: ${"long ".repeat(15).trim()}\n  ${"long ".repeat(5).trim()}'`],
];

test("strings are printed as by Go's YAML library", () => {
  expect(texts.map(([text]) => formatGoYaml([text]))).toEqual(texts.map(([, printed]) => `${printed}\n`));
});

test("printed strings read back unchanged", () => {
  for (const [text] of texts)
    expect(parseYaml(formatGoYaml({ spec: { texts: [text], [`key ${text}`]: text } }))).toEqual({
      spec: { texts: [text], [`key ${text}`]: text },
    });
});

const values: Record<string, { value: Json; want: string }> = {
  "an object with lists flush with their key": {
    value: { b: [{ x: 1, y: [2] }], a: { c: true } },
    want: 'a:\n  c: true\nb:\n- x: 1\n  "y":\n  - 2\n',
  },
  "lists in lists": { value: [[1, 2], [{ a: 1 }]], want: "- - 1\n  - 2\n- - a: 1\n" },
  "empty collections": { value: { a: {}, b: [], c: null }, want: "a: {}\nb: []\nc: null\n" },
  "keys with numbers in natural order": { value: { a10: 1, a2: 2, "a-b": 3 }, want: "a-b: 3\na2: 2\na10: 1\n" },
  "a number": { value: 3, want: "3\n" },
  "large and small numbers": {
    value: [1e22, 1e-7, 0.0001, 1234567.5, 1.5],
    want: "- 1e+22\n- 1e-07\n- 0.0001\n- 1.2345675e+06\n- 1.5\n",
  },
  nothing: { value: null, want: "null\n" },
};
for (const [what, { value, want }] of Object.entries(values)) {
  test(`prints ${what}`, () => {
    expect(formatGoYaml(value)).toBe(want);
  });
}

test("any printed value reads back unchanged", () => {
  // Strings of characters with a meaning in YAML; Unicode line breaks are left out because parsers disagree on them.
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom(...Array.from("abNy01.-+:#,[]{}&*!|>'\"%@`~?=<\\ \n\té😀")) }),
    fc.string({ unit: "grapheme" }).filter((each) => !/[\u0085\u2028\u2029\uFEFF]/.test(each)),
  );
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(text, tie("value"), { maxKeys: 4 }),
    ),
  }));

  fc.assert(
    fc.property(value, (json) => {
      expect(parseYaml(formatGoYaml({ json }))).toEqual({ json });
    }),
    { numRuns: 500, seed: 1 },
  );
});
