import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compilePattern } from "./pattern.ts";

const matching: [pattern: string, text: string, want: boolean][] = [
  ["^[a-z]+$", "abc", true],
  ["^[a-z]+$", "aBc", false],
  ["b", "abc", true],
  ["^$", "", true],
  ["^b", "ab", false],
  ["a|^b", "cb", false],
  [String.raw`^\d{2,3}$`, "1234", false],
  [String.raw`^\d{2,3}$`, "123", true],
  ["^a{0}b$", "b", true],
  ["^(ab)*c$", "ababc", true],
  ["^(?:a|b)+?$", "abba", true],
  ["^(?P<name>x)(?<other>y)$", "xy", true],
  ["(?i)^ABC$", "aBc", true],
  ["^.$", "😀", true],
  ["^.$", "\n", false],
  ["(?s)^.$", "\n", true],
  [String.raw`^[^\s,]+$`, "a,b", false],
  ["^[]a]+$", "]a", true],
  ["^[a-]+$", "a-", true],
  [String.raw`^\pL+\p{Greek}$`, "éα", true],
  ["^[[:alpha:]_]+$", "a_", true],
  [String.raw`^\x41\x{1F600}$`, "A😀", true],
  [String.raw`^\Qa.b\E$`, "a.b", true],
  ["^a{x}$", "a{x}", true],
  [String.raw`\Aab\z`, "ab", true],
];
test.each(matching)("%s on %j is %s", (pattern, text, want) => {
  expect(compilePattern(pattern).test(text)).toBe(want);
});

describe("what cannot be run is refused when it is compiled", () => {
  test.each(["(", ")", "a**", "*", String.raw`\1`, "(?=a)", "(?<=a)", "(?m)a", "[z-a]", "[a", "a{2000}", "a{3,2}", String.raw`\b`, "((a{100}){100}){100}", String.raw`\p{Nope}`, "x".repeat(10_000)])("%s", (pattern) => {
    expect(() => compilePattern(pattern)).toThrow(expect.objectContaining({ code: "Pattern" }));
  });
});

test("a pattern on which RegExp would never end takes time linear in the text", () => {
  const pattern = compilePattern("^(([a-z])+.)+[A-Z]([a-z])+$");

  expect(pattern.test("a".repeat(20_000))).toBe(false);
});

test("a text with more characters than steps are kept for is still matched", () => {
  const text = Array.from({ length: 20_000 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join("");

  expect(compilePattern("^[^x]*y$").test(`${text}y`)).toBe(true);
});

test("agrees with RegExp where that is safe", () => {
  const piece = fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "(a|b)", "(ab)", "a?");
  const quantified = fc.tuple(piece, fc.constantFrom("", "*", "+", "{1,2}")).map(([part, quantifier]) => (part.endsWith("?") ? part : part + quantifier));
  const pattern = fc.tuple(fc.constantFrom("", "^"), fc.array(quantified, { minLength: 1, maxLength: 5 }), fc.constantFrom("", "$")).map(([start, parts, end]) => start + parts.join("") + end);
  fc.assert(
    fc.property(pattern, fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 }), (source, text) => {
      expect(compilePattern(source).test(text)).toBe(new RegExp(source, "u").test(text));
    }),
  );
});
