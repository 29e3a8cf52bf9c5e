import { expect, test } from "vitest";
import { compilePattern } from "./pattern.ts";

const cases: readonly (readonly [pattern: string, text: string, found: readonly string[]])[] = [
  ["[0-9]+", "a 42 b 7", ["42", "7"]],
  ["a|ab", "abab", ["a", "a"]],
  ["(a|ab)(c|bcd)", "abcd", ["abcd"]],
  ["a+?", "aaa", ["a", "a", "a"]],
  ["a{2,}", "aaaa a aa", ["aaaa", "aa"]],
  ["(|a)*", "aa", ["", "", ""]],
  ["(a|b)*", "abc", ["ab", ""]],
  ["x*", "axb", ["", "x", ""]],
  ["a{2,3}", "aaaaa", ["aaa", "aa"]],
  [String.raw`\bfoo\b`, "foo food foo", ["foo", "foo"]],
  ["(?m)^b$", "a\nb", ["b"]],
  ["^b", "ab", []],
  ["(?i)É", "é", ["é"]],
  [".", "a😀", ["a", "😀"]],
  ["", "ab", ["", "", ""]],
  ["(|a)+", "aa", ["", "", ""]],
  ["(a??)*", "aa", ["", "", ""]],
  ["(?U)a+", "aaa", ["a", "a", "a"]],
  ["(?U)a+?", "aaa", ["aaa"]],
  ["(a*)*b?", "aab", ["aab"]],
  ["(a*|b)*", "ab", ["ab"]],
];
for (const [pattern, text, found] of cases) {
  test(`finds ${JSON.stringify(found)} for ${pattern} in ${JSON.stringify(text)}, leftmost first`, () => {
    expect([...compilePattern(pattern).findAll(text, -1)]).toEqual(found);
  });
}

test("finds no more matches than the limit", () => {
  expect([...compilePattern("a").findAll("aaaa", 2)]).toEqual(["a", "a"]);
});
