import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSeededRandom } from "@flotilla/base";
import { foldsOf } from "./case-folding.ts";
import { compilePattern } from "./pattern.ts";
import { MAX_PATTERN_STEPS, PatternWork, PatternWorkError } from "./pattern-work.ts";

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
  [String.raw`\bcat\b`, "a cat sat", true],
  [String.raw`\bcat\b`, "concat", false],
  [String.raw`a\B`, "ab", true],
  [String.raw`a\B$`, "a", false],
  ["(?m)^b$", "a\nb\nc", true],
  ["^b$", "a\nb\nc", false],
  [String.raw`^\101$`, "A", true],
];
test.each(matching)("%s on %j is %s", (pattern, text, want) => {
  expect(compilePattern(pattern).test(text)).toBe(want);
});

describe("an unsupported pattern is rejected at compile time", () => {
  test.each([
    "(",
    ")",
    "a**",
    "*",
    String.raw`\1`,
    "(?=a)",
    "(?<=a)",
    "[z-a]",
    "[a",
    "a{2000}",
    "a{3,2}",
    "((a{100}){100}){100}",
    String.raw`\p{Nope}`,
    "x".repeat(10_000),
    `(${"()".repeat(100)}){1000}`,
    `(${"a{0}".repeat(100)}){1000}`,
  ])("%s", (pattern) => {
    expect(() => compilePattern(pattern)).toThrow(expect.objectContaining({ code: "Pattern" }));
  });
});

const refusals: [pattern: string, want: string][] = [
  ["(", "missing closing ): `(`"],
  ["a)b", "unexpected ): `a)b`"],
  ["a[bc", "missing closing ]: `[bc`"],
  ["*a", "missing argument to repetition operator: `*`"],
  ["a**", "invalid nested repetition operator: `**`"],
  ["a{2000}", "invalid repeat count: `{2000}`"],
  ["^([ab]*a[ab]{900}){9}$", "invalid repeat count: `{9}`"],
  ["((a{10}){10}){11,}?", "invalid repeat count: `{11,}?`"],
  [`^${"[ab]{1000}".repeat(30)}$`, `expression too large: \`^${"[ab]{1000}".repeat(30)}$\``],
  [String.raw`\1`, String.raw`invalid escape sequence: ` + "`\\1`"],
  ["[z-a]", "invalid character class range: `z-a`"],
  ["[[:nope:]]", "invalid character class range: `[:nope:]`"],
  [String.raw`\p{Nope}`, String.raw`invalid character class range: ` + "`\\p{Nope}`"],
  ["(?=a)", "invalid or unsupported Perl syntax: `(?=`"],
  ["(?P<n", "invalid named capture: `(?P<n`"],
  ["a\\", "trailing backslash at end of expression: ``"],
];
test.each(refusals)("the error for %s is Go's: %s", (pattern, want) => {
  expect(() => compilePattern(pattern)).toThrow(expect.objectContaining({ problem: `error parsing regexp: ${want}` }));
});

test("a pattern on which RegExp would never finish takes time linear in the text", () => {
  const pattern = compilePattern("^(([a-z])+.)+[A-Z]([a-z])+$");

  expect(pattern.test("a".repeat(20_000))).toBe(false);
});

test("a text with more characters than the transition cache holds is still matched", () => {
  const text = Array.from({ length: 20_000 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join("");

  expect(compilePattern("^[^x]*y$").test(`${text}y`)).toBe(true);
});

test.each(["((a{10}){10}){10}", "(a{1000})*", "((a{0}){1000})", "(((((a+)+)+)+)+)+".repeat(20)])(
  "%s is within the repeat limit",
  (pattern) => {
    expect(compilePattern(pattern).test("a".repeat(1000))).toBe(true);
  },
);

describe("a pattern that needs a new state set for every character", () => {
  const letters = (length: number): string => {
    const { next } = createSeededRandom(7);
    return Array.from({ length }, () => (next() < 0.5 ? "a" : "b")).join("");
  };
  const patterns = ["^[ab]*a[ab]{900}$", "^([ab]*a[ab]{100}){9}$"];

  test.each(patterns)("%s visits each state at most about once per character", (pattern) => {
    const work = new PatternWork();

    const found = compilePattern(pattern).test(`${letters(10_000)}c`, work);

    expect(found).toBe(false);
    expect(work.steps).toBeLessThan(10_000 * 1000);
  });

  test.each(patterns)("%s fails with an error on a text that would take too long", (pattern) => {
    const work = new PatternWork();

    expect(() => compilePattern(pattern).test(letters(1_000_000), work)).toThrow(PatternWorkError);
    expect(work.steps).toBeLessThan(MAX_PATTERN_STEPS * 1.01);
  });

  test("finds all matches", () => {
    const pattern = compilePattern("^[ab]*a[ab]{300}$");
    const text = letters(5000);

    const found = ["a", "b"].map((letter) => pattern.test(`${text}${letter}${text.slice(0, 300)}`));

    expect(found).toEqual([true, false]);
  });

  test("respects word and line boundaries", () => {
    const text = `${letters(5000)} a${letters(300)}`;

    expect(compilePattern(String.raw`\ba[ab ]{300}\b$`).test(text)).toBe(true);
    expect(compilePattern(String.raw`\Ba[ab ]{300}\b$`).test(text)).toBe(false);
    expect(compilePattern(String.raw`(?m)^[ab ]*a[ab ]{300}\B$`).test(text)).toBe(false);
  });
});

test("texts share the given work budget", () => {
  const work = new PatternWork(1000);
  const pattern = compilePattern("^[a-z]+$");
  pattern.test("a".repeat(600), work);

  expect(() => pattern.test("a".repeat(600), work)).toThrow("matching takes more than 1000 steps");
});

test("agrees with RegExp on safe patterns", () => {
  const piece = fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "(a|b)", "(ab)", "a?");
  const quantified = fc
    .tuple(piece, fc.constantFrom("", "*", "+", "{1,2}"))
    .map(([part, quantifier]) => (part.endsWith("?") ? part : part + quantifier));
  const pattern = fc
    .tuple(fc.constantFrom("", "^"), fc.array(quantified, { minLength: 1, maxLength: 5 }), fc.constantFrom("", "$"))
    .map(([start, parts, end]) => start + parts.join("") + end);
  fc.assert(
    fc.property(pattern, fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 }), (source, text) => {
      expect(compilePattern(source).test(text)).toBe(new RegExp(source, "u").test(text));
    }),
  );
});

describe("results recorded from Go 1.26", () => {
  const foldings: [pattern: string, text: string, want: boolean][] = [
    [String.raw`(?i)^s$`, "ſ", true],
    [String.raw`(?i)^σ$`, "ς", true],
    [String.raw`(?i)^µ$`, "μ", true],
    [String.raw`(?i)^ı$`, "I", false],
    [String.raw`(?i)^[^a]$`, "A", false],
    [String.raw`(?i)^\W$`, "ſ", false],
    [String.raw`(?i)^\W$`, "K", false],
    [String.raw`(?i)^\w$`, "ſ", true],
    [String.raw`(?i)^\pLu$`, "a", false],
    [String.raw`(?i)^\p{Lu}$`, "a", true],
    [String.raw`(?i)^\P{Lu}$`, "a", false],
    [String.raw`(?i)^[[:upper:]]$`, "a", true],
    [String.raw`(?i)^[[:^upper:]]$`, "a", false],
    [String.raw`(?i)^[^[:upper:]]$`, "a", false],
    [String.raw`(?i)^\p{Greek}$`, "µ", true],
    [String.raw`(?i)^[b-y]$`, "ſ", true],
    [String.raw`(?i)^[^\W]$`, "ſ", true],
    [String.raw`(?i)^[^\PL]$`, "a", true],
    [String.raw`(?i)^[\x{100}-\x{200}]$`, "s", true],
  ];
  test.each(foldings)("%s on %j is %s", (pattern, text, want) => {
    expect(compilePattern(pattern).test(text)).toBe(want);
  });

  const rejected: [pattern: string, want: string][] = [
    ["a\\", "trailing backslash at end of expression: ``"],
    ["(?i", "invalid or unsupported Perl syntax: `(?i`"],
    ["(?", "invalid or unsupported Perl syntax: `(?`"],
    ["[a-", "missing closing ]: `[a-`"],
    ["a{1001}", "invalid repeat count: `{1001}`"],
    ["\\pX", "invalid character class range: `\\pX`"],
    ["(?i)(?", "invalid or unsupported Perl syntax: `(?`"],
    ["[a-\\d]", "invalid escape sequence: `\\d`"],
    ["\\8", "invalid escape sequence: `\\8`"],
    ["\\x{110000}", "invalid escape sequence: `\\x{110000`"],
    ["\\xg", "invalid escape sequence: `\\xg`"],
    ["(?P=n)", "invalid or unsupported Perl syntax: `(?P`"],
    ["(?P<>a)", "invalid named capture: `(?P<>`"],
    ["x{2}{3}", "invalid nested repetition operator: `{2}{3}`"],
    ["\\C", "invalid escape sequence: `\\C`"],
    ["\\Z", "invalid escape sequence: `\\Z`"],
    ["[]", "missing closing ]: `[]`"],
    ["[^]", "missing closing ]: `[^]`"],
    ["|*", "missing argument to repetition operator: `*`"],
    ["(?i-)", "invalid or unsupported Perl syntax: `(?i-)`"],
    ["(?-)", "invalid or unsupported Perl syntax: `(?-)`"],
    ["\\p", "invalid character class range: `\\p`"],
    ["\\p{IsGreek}", "invalid character class range: `\\p{IsGreek}`"],
    ["\\p{Grek}", "invalid character class range: `\\p{Grek}`"],
  ];
  test.each(rejected)("%s is rejected: %s", (pattern, want) => {
    expect(() => compilePattern(pattern)).toThrow(
      expect.objectContaining({ problem: `error parsing regexp: ${want}` }),
    );
  });

  test.each([
    "(?P<a>x)(?P<a>y)",
    "\\Q",
    "[[:word:]]",
    "[\\d-z]",
    "\\08",
    "(?P<1a>x)",
    "a{,2}",
    "(?U)a*",
    "[^\\D]",
    "(|)+",
    "^*",
    "(?i-s:a)",
    "(?)",
    "\\p{^Greek}",
    "\\P{^Greek}",
    "\\pN",
    "\\p{greek}",
    "\\p{Letter}",
    "\\p{L_}",
    "\\p{Any}",
    "\\p{ASCII}",
    "\\p{Lm}",
    "\\p{LC}",
    "\\p{Cn}",
    "\\p{Cs}",
    "\\p{Lowercase_Letter}",
  ])("%s is accepted", (pattern) => {
    expect(() => compilePattern(pattern)).not.toThrow();
  });
});

test("characters differ only in case where RegExp says so", () => {
  const wrong: string[] = [];
  for (let code = 0; code <= 0x1ffff; code++) {
    const text = String.fromCodePoint(code);
    const others = [text.toUpperCase(), text.toLowerCase(), text.toUpperCase().toLowerCase()].filter(
      (other) => other !== text && Array.from(other).length === 1,
    );
    const folds = foldsOf(code).map((fold) => String.fromCodePoint(fold));
    if (folds.length === 0 && others.length === 0) continue;
    const same = new RegExp(`^\\u{${code.toString(16)}}$`, "iu");
    for (const other of [...others, ...folds]) if (same.test(other) !== folds.includes(other)) wrong.push(text + other);
  }

  expect(wrong).toEqual([]);
});
