/**
 * Parses regular expressions in RE2's syntax, which `pattern` of a schema uses. It has no features that cannot be
 * matched in linear time (back references, look-around). Errors are in Go's wording, which clients see.
 */
import { any, ignoringCase, inRange, not, oneOf, PERL, POSIX, unicodeClass, type CharacterTest } from "./characters.ts";
import { MAX_STATES, repeatsAtMost, sizeOf } from "./size.ts";
import { PatternError, type Assertion, type PatternNode } from "./syntax.ts";

/** Patterns of real schemas are far shorter; longer ones are rejected. */
const MAX_PATTERN_LENGTH = 8192;
const MAX_REPEAT = 1000;
const MAX_DEPTH = 200;

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
  /** Repeats are lazy, and those with a question mark are not. */
  private isUngreedy = false;

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
    const isLazy = this.take("?") !== this.isUngreedy;
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
        return this.character(this.folded(oneOf(character)));
    }
  }

  private character(test: CharacterTest, ranges = 1): PatternNode {
    return { kind: "character", test, weight: this.ignoreCase ? FOLDED_WEIGHT * ranges : ranges };
  }

  private folded(test: CharacterTest): CharacterTest {
    return this.ignoreCase ? ignoringCase(test) : test;
  }

  private group(start: number): PatternNode {
    const { ignoreCase, dotMatchesNewline, multiLine, isUngreedy } = this;
    if (this.take("?")) {
      if (this.take("P<") || this.take("<")) this.groupName(start);
      else if (this.readFlags(start)) return { kind: "empty" };
    }
    const node = this.choice();
    if (!this.take(")")) throw this.error("missing closing )", this.pattern);
    Object.assign(this, { ignoreCase, dotMatchesNewline, multiLine, isUngreedy });
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
    let sawFlag = false;
    for (;;) {
      const flag = this.characters[this.position++];
      if ((flag === ":" || flag === ")") && (enabled || sawFlag)) return flag === ")";
      sawFlag = flag !== "-";
      if (flag === "-" && enabled) enabled = false;
      else if (flag === "i") this.ignoreCase = enabled;
      else if (flag === "s") this.dotMatchesNewline = enabled;
      else if (flag === "m") this.multiLine = enabled;
      else if (flag === "U") this.isUngreedy = enabled;
      else throw this.error("invalid or unsupported Perl syntax", this.since(start));
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
    return this.character(typeof escaped === "string" ? this.folded(oneOf(escaped)) : escaped);
  }

  private quoted(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.position < this.characters.length && !this.take("\\E"))
      parts.push(this.character(this.folded(oneOf(this.characters[this.position++] ?? ""))));
    return { kind: "sequence", parts };
  }

  /** The meaning of a backslash at `start`: one character, or a character class. */
  private escaped(start: number): string | CharacterTest {
    const character = this.characters[this.position++];
    if (character === undefined) throw this.error("trailing backslash at end of expression", "");
    const perl = PERL.get(character.toLowerCase());
    if (perl) return PERL.has(character) ? this.folded(perl) : not(this.folded(perl));
    if (character === "p" || character === "P") return this.unicodeProperty(start, character === "P");
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

  /** The fragment of an error ends where the number does, as in Go. */
  private hexadecimal(start: number): string {
    const isBraced = this.take("{");
    const maxDigits = isBraced ? Infinity : 2;
    let code = 0;
    for (let digits = 0; digits < maxDigits; digits++) {
      const character = this.characters[this.position++] ?? "";
      if (isBraced && character === "}" && digits > 0) break;
      code = code * 16 + (/^[0-9A-Fa-f]$/.test(character) ? Number.parseInt(character, 16) : Infinity);
      if (code > 0x10ffff) throw this.error("invalid escape sequence", this.since(start));
    }
    return String.fromCodePoint(code);
  }

  private unicodeProperty(start: number, negated: boolean): CharacterTest {
    let name = this.characters[this.position++] ?? "";
    if (name === "{") {
      const end = this.characters.indexOf("}", this.position);
      if (end < 0) throw this.error("invalid character class range", this.characters.slice(start).join(""));
      name = this.characters.slice(this.position, end).join("");
      this.position = end + 1;
    }
    const test = unicodeClass(name.replace(/^\^/, ""));
    if (!test) throw this.error("invalid character class range", this.since(start));
    return name.startsWith("^") === negated ? this.folded(test) : not(this.folded(test));
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
        tests.push(this.folded(oneOf(low)));
        continue;
      }
      this.position += 1;
      const end = this.position;
      const high = this.classCharacter(start);
      if (typeof high !== "string")
        throw this.error("invalid escape sequence", this.characters.slice(end, end + 2).join(""));
      if ((high.codePointAt(0) ?? 0) < (low.codePointAt(0) ?? 0))
        throw this.error("invalid character class range", this.since(item));
      tests.push(this.folded(inRange(low, high)));
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
    return match[1] ? not(this.folded(test)) : this.folded(test);
  }
}

/** Testing all characters of a group takes this many times as long as testing one. */
const FOLDED_WEIGHT = 3;

const ASSERTIONS: ReadonlyMap<string, Assertion> = new Map([
  ["A", "start"],
  ["z", "end"],
  ["b", "word"],
  ["B", "noWord"],
]);
