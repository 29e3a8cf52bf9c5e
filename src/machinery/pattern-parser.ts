/**
 * Parses regular expressions in RE2's syntax, which `pattern` of a schema uses. It has no features that cannot be
 * matched in linear time (back references, look-around). Errors are in Go's wording, which clients see.
 */
import { FlotillaError } from "../base/index.ts";
import { MAX_STATES, repeatsAtMost, sizeOf } from "./pattern-size.ts";

export type CharacterTest = (codePoint: number) => boolean;

/** Zero-width assertions: start or end of the text or of a line, a word boundary, or no word boundary. */
export type Assertion = "start" | "end" | "lineStart" | "lineEnd" | "word" | "noWord";

export type PatternNode =
  | { kind: "empty" }
  /** The weight is the number of ranges in the test. */
  | { kind: "character"; test: CharacterTest; weight: number }
  | { kind: "assertion"; assertion: Assertion }
  | { kind: "sequence"; parts: PatternNode[] }
  | { kind: "choice"; options: PatternNode[] }
  /** A lazy repeat prefers fewer: the same texts match, but the matches differ. */
  | { kind: "repeat"; part: PatternNode; min: number; max: number; isLazy: boolean };

/** The pattern is not a valid regular expression, or exceeds Flotilla's limits. */
export class PatternError extends FlotillaError {
  /** In Go's wording: ``error parsing regexp: missing closing ): `(` ``. */
  readonly problem: string;
  constructor(pattern: string, problem: string, fragment: string) {
    const text = `error parsing regexp: ${problem}: \`${fragment}\``;
    super("Pattern", `invalid pattern ${JSON.stringify(pattern.slice(0, 200))}: ${text}`);
    this.problem = text;
  }
}

/** Patterns of real schemas are far shorter; longer ones are rejected. */
const MAX_PATTERN_LENGTH = 8192;
const MAX_REPEAT = 1000;
const MAX_DEPTH = 200;

const inRange = (from: string, to: string): CharacterTest => {
  const [low, high] = [from.codePointAt(0) ?? 0, to.codePointAt(0) ?? 0];
  return (code) => code >= low && code <= high;
};
const any = (...tests: CharacterTest[]): CharacterTest =>
  tests.length === 1 && tests[0] ? tests[0] : (code) => tests.some((test) => test(code));
const not =
  (test: CharacterTest): CharacterTest =>
  (code) =>
    !test(code);
const oneOf = (characters: string): CharacterTest => {
  const [only, ...more] = characters;
  if (only !== undefined && more.length === 0) return inRange(only, only);
  const codes = new Set(Array.from(characters, (character) => character.codePointAt(0)));
  return (code) => codes.has(code);
};

const digit = inRange("0", "9");
const word = any(inRange("a", "z"), inRange("A", "Z"), digit, oneOf("_"));
const space = oneOf("\t\n\f\r ");
const CLASSES: ReadonlyMap<string, CharacterTest> = new Map([
  ["d", digit],
  ["D", not(digit)],
  ["w", word],
  ["W", not(word)],
  ["s", space],
  ["S", not(space)],
]);
const POSIX: ReadonlyMap<string, CharacterTest> = new Map([
  ["alnum", any(inRange("a", "z"), inRange("A", "Z"), digit)],
  ["alpha", any(inRange("a", "z"), inRange("A", "Z"))],
  ["ascii", inRange("\0", "\x7f")],
  ["blank", oneOf("\t ")],
  ["cntrl", any(inRange("\0", "\x1f"), oneOf("\x7f"))],
  ["digit", digit],
  ["graph", inRange("!", "~")],
  ["lower", inRange("a", "z")],
  ["print", inRange(" ", "~")],
  ["punct", any(inRange("!", "/"), inRange(":", "@"), inRange("[", "`"), inRange("{", "~"))],
  ["space", oneOf("\t\n\v\f\r ")],
  ["upper", inRange("A", "Z")],
  ["word", word],
  ["xdigit", any(digit, inRange("a", "f"), inRange("A", "F"))],
]);
const CONTROLS: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["f", "\f"],
  ["v", "\v"],
  ["a", "\x07"],
]);

/** Runs in time proportional to the pattern's text, even where repeats expand to much more. */
export function parsePattern(pattern: string): PatternNode {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw new PatternError(pattern, "expression too large", `${pattern.slice(0, 64)}...`);
  const node = new PatternParser(pattern).parse();
  if (sizeOf(node) > MAX_STATES) throw new PatternError(pattern, "expression too large", pattern);
  return node;
}

class PatternParser {
  private readonly pattern: string;
  private readonly characters: string[];
  private position = 0;
  private depth = 0;
  private ignoreCase = false;
  private dotMatchesNewline = false;
  private multiLine = false;

  constructor(pattern: string) {
    this.pattern = pattern;
    this.characters = Array.from(pattern);
  }

  parse(): PatternNode {
    const node = this.choice();
    if (this.position < this.characters.length) throw this.error("unexpected )", this.pattern);
    return node;
  }

  private error(problem: string, fragment: string): PatternError {
    return new PatternError(this.pattern, problem, fragment);
  }

  /** The text since a position. */
  private since(start: number): string {
    return this.characters.slice(start, this.position).join("");
  }

  private peek(): string | undefined {
    return this.characters[this.position];
  }

  private take(text: string): boolean {
    for (let offset = 0; offset < text.length; offset++)
      if (this.characters[this.position + offset] !== text[offset]) return false;
    this.position += text.length;
    return true;
  }

  private choice(): PatternNode {
    if (++this.depth > MAX_DEPTH) throw this.error("expression nests too deeply", this.pattern);
    const options = [this.sequence()];
    while (this.take("|")) options.push(this.sequence());
    this.depth -= 1;
    return options.length === 1 ? (options[0] as PatternNode) : { kind: "choice", options };
  }

  private sequence(): PatternNode {
    const parts: PatternNode[] = [];
    for (
      let character = this.peek();
      character !== undefined && character !== "|" && character !== ")";
      character = this.peek()
    )
      parts.push(this.repeat(this.atom()));
    return { kind: "sequence", parts };
  }

  private repeat(part: PatternNode): PatternNode {
    const start = this.position;
    const range = this.quantifier();
    if (!range) return part;
    const isLazy = this.take("?");
    const node: PatternNode = { kind: "repeat", part, ...range, isLazy };
    if ((range.min >= 2 || (range.max >= 2 && range.max !== Infinity)) && !repeatsAtMost(node, MAX_REPEAT))
      throw this.error("invalid repeat count", this.since(start));
    if (this.quantifier()) throw this.error("invalid nested repetition operator", this.since(start));
    return node;
  }

  private quantifier(): { min: number; max: number } | undefined {
    if (this.take("*")) return { min: 0, max: Infinity };
    if (this.take("+")) return { min: 1, max: Infinity };
    if (this.take("?")) return { min: 0, max: 1 };
    if (this.peek() !== "{") return undefined;
    const match = /^\{(\d{1,9})(?:(,)(\d{1,9})?)?\}/.exec(
      this.characters.slice(this.position, this.position + 22).join(""),
    );
    // As in RE2, a brace that is not a repeat is a literal.
    if (!match) return undefined;
    this.position += match[0].length;
    const min = Number(match[1]);
    const max = match[2] === undefined ? min : match[3] === undefined ? Infinity : Number(match[3]);
    if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT) || max < min)
      throw this.error("invalid repeat count", match[0]);
    return { min, max };
  }

  private atom(): PatternNode {
    const start = this.position;
    if (this.quantifier()) throw this.error("missing argument to repetition operator", this.since(start));
    const character = this.characters[this.position++] ?? "";
    switch (character) {
      case "(":
        return this.group(start);
      case "[":
        return this.characterClass(start);
      case ".":
        return { kind: "character", test: this.dotMatchesNewline ? () => true : (code) => code !== 10, weight: 1 };
      case "^":
        return { kind: "assertion", assertion: this.multiLine ? "lineStart" : "start" };
      case "$":
        return { kind: "assertion", assertion: this.multiLine ? "lineEnd" : "end" };
      case "\\":
        return this.escape(start);
      default:
        return this.character(oneOf(character));
    }
  }

  private character(test: CharacterTest, weight = 1): PatternNode {
    if (!this.ignoreCase) return { kind: "character", test, weight };
    return {
      kind: "character",
      weight: 3 * weight,
      test: (code) => {
        const text = String.fromCodePoint(code);
        return (
          test(code) ||
          test(text.toLowerCase().codePointAt(0) ?? code) ||
          test(text.toUpperCase().codePointAt(0) ?? code)
        );
      },
    };
  }

  private group(start: number): PatternNode {
    const { ignoreCase, dotMatchesNewline, multiLine } = this;
    if (this.take("?")) {
      if (this.take("P<") || this.take("<")) this.groupName(start);
      else if (this.readFlags(start)) return { kind: "empty" };
    }
    const node = this.choice();
    if (!this.take(")")) throw this.error("missing closing )", this.pattern);
    Object.assign(this, { ignoreCase, dotMatchesNewline, multiLine });
    return node;
  }

  private groupName(start: number): void {
    const end = this.characters.indexOf(">", this.position);
    if (end < 0) throw this.error("invalid named capture", this.characters.slice(start).join(""));
    const name = this.characters.slice(this.position, end).join("");
    this.position = end + 1;
    if (!/^\w+$/.test(name)) throw this.error("invalid named capture", this.since(start));
  }

  /** Parses `i)` or `i:`; true when the flags stand alone and apply until the end of the enclosing group. */
  private readFlags(start: number): boolean {
    let enabled = true;
    for (let count = 0; ; count++) {
      const flag = this.characters[this.position++];
      const isEnd = flag === ":" || flag === ")";
      if (isEnd && (count > 0 || flag === ":")) return flag === ")";
      if (flag === "-" && enabled) enabled = false;
      else if (flag === "i") this.ignoreCase = enabled;
      else if (flag === "s") this.dotMatchesNewline = enabled;
      else if (flag === "m") this.multiLine = enabled;
      else if (flag !== "U") throw this.error("invalid or unsupported Perl syntax", this.since(start));
    }
  }

  private escape(start: number): PatternNode {
    const assertion = ASSERTIONS.get(this.peek() ?? "");
    if (assertion) {
      this.position += 1;
      return { kind: "assertion", assertion };
    }
    if (this.take("Q")) return this.quoted();
    const escaped = this.escaped(start);
    return this.character(typeof escaped === "string" ? oneOf(escaped) : escaped);
  }

  private quoted(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.position < this.characters.length && !this.take("\\E"))
      parts.push(this.character(oneOf(this.characters[this.position++] ?? "")));
    return { kind: "sequence", parts };
  }

  /** The meaning of a backslash at `start`: one character, or a character class. */
  private escaped(start: number): string | CharacterTest {
    const character = this.characters[this.position++];
    if (character === undefined) throw this.error("trailing backslash at end of expression", "");
    const known = CLASSES.get(character);
    if (known) return known;
    if (character === "p" || character === "P") return this.unicodeClass(start, character === "P");
    if (character === "x") return this.hexadecimal(start);
    const control = CONTROLS.get(character);
    if (control) return control;
    if (/[0-7]/.test(character)) return this.octal(start, character);
    if (/[A-Za-z0-9\u0080-\u{10ffff}]/u.test(character)) throw this.error("invalid escape sequence", this.since(start));
    return character;
  }

  /** A single digit other than zero would be a back reference. */
  private octal(start: number, first: string): string {
    let digits = first;
    while (digits.length < 3 && /[0-7]/.test(this.peek() ?? "")) digits += this.characters[this.position++] ?? "";
    if (digits.length === 1 && first !== "0") throw this.error("invalid escape sequence", this.since(start));
    return String.fromCodePoint(Number.parseInt(digits, 8));
  }

  private hexadecimal(start: number): string {
    const match = /^(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))/.exec(
      this.characters.slice(this.position, this.position + 12).join(""),
    );
    const code = match ? Number.parseInt(match[1] ?? match[2] ?? "", 16) : Infinity;
    this.position += match ? match[0].length : 1;
    if (code > 0x10ffff) throw this.error("invalid escape sequence", this.since(start));
    return String.fromCodePoint(code);
  }

  private unicodeClass(start: number, negated: boolean): CharacterTest {
    let name = this.characters[this.position++] ?? "";
    if (name === "{") {
      const end = this.characters.indexOf("}", this.position);
      if (end < 0) throw this.error("invalid character class range", this.characters.slice(start).join(""));
      name = this.characters.slice(this.position, end).join("");
      this.position = end + 1;
    }
    const inverse = name.startsWith("^") ? !negated : negated;
    const property = name.replace("^", "");
    if (property === "Any") return () => !inverse;
    // Tests one character at a time, so this cannot backtrack. RE2 has the same names for categories and scripts.
    const expression = /^\w+$/.test(property)
      ? [`\\p{gc=${property}}`, `\\p{Script=${property}}`]
          .map(unicodeProperty)
          .find((candidate) => candidate !== undefined)
      : undefined;
    if (!expression) throw this.error("invalid character class range", this.since(start));
    return (code) => expression.test(String.fromCodePoint(code)) !== inverse;
  }

  private characterClass(start: number): PatternNode {
    const negated = this.take("^");
    const tests: CharacterTest[] = [];
    for (let first = true; first || this.peek() !== "]"; first = false) {
      const item = this.position;
      const low = this.posixClass() ?? this.classCharacter(start);
      if (typeof low !== "string") {
        tests.push(low);
        continue;
      }
      const isRange =
        this.peek() === "-" &&
        this.characters[this.position + 1] !== "]" &&
        this.characters[this.position + 1] !== undefined;
      if (!isRange) {
        tests.push(oneOf(low));
        continue;
      }
      this.position += 1;
      const high = this.classCharacter(start);
      if (typeof high !== "string" || (high.codePointAt(0) ?? 0) < (low.codePointAt(0) ?? 0))
        throw this.error("invalid character class range", this.since(item));
      tests.push(inRange(low, high));
    }
    this.position += 1;
    const test = any(...tests);
    return this.character(negated ? not(test) : test, tests.length);
  }

  private classCharacter(classStart: number): string | CharacterTest {
    const start = this.position;
    const character = this.characters[this.position++];
    if (character === undefined) throw this.error("missing closing ]", this.characters.slice(classStart).join(""));
    return character === "\\" ? this.escaped(start) : character;
  }

  private posixClass(): CharacterTest | undefined {
    if (this.peek() !== "[") return undefined;
    const match = /^\[:(\^?)([^:\]]*):\]/.exec(this.characters.slice(this.position, this.position + 64).join(""));
    if (!match) return undefined;
    const test = POSIX.get(match[2] ?? "");
    if (!test) throw this.error("invalid character class range", match[0]);
    this.position += match[0].length;
    return match[1] ? not(test) : test;
  }
}

const ASSERTIONS: ReadonlyMap<string, Assertion> = new Map([
  ["A", "start"],
  ["z", "end"],
  ["b", "word"],
  ["B", "noWord"],
]);

function unicodeProperty(source: string): RegExp | undefined {
  try {
    return new RegExp(`^${source}$`, "u");
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
