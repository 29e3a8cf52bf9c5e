/**
 * Reads regular expressions in RE2's syntax, which `pattern` of a schema is written in. What cannot be matched in linear time
 * (back references, look-around) does not exist there; word boundaries and multi-line mode exist but are refused here.
 */
import { FlotillaError } from "../base/index.ts";

export type CharacterTest = (codePoint: number) => boolean;

export type PatternNode =
  | { kind: "empty" }
  | { kind: "character"; test: CharacterTest }
  | { kind: "start" }
  | { kind: "end" }
  | { kind: "sequence"; parts: PatternNode[] }
  | { kind: "choice"; options: PatternNode[] }
  | { kind: "repeat"; part: PatternNode; min: number; max: number };

/** The pattern is not a regular expression, or one that Flotilla does not run. */
export class PatternError extends FlotillaError {
  constructor(pattern: string, why: string) {
    super("Pattern", `cannot use the pattern ${JSON.stringify(pattern.slice(0, 200))}: ${why}`);
  }
}

const MAX_REPEAT = 1000;
const MAX_DEPTH = 200;

const inRange = (from: string, to: string): CharacterTest => {
  const [low, high] = [from.codePointAt(0) ?? 0, to.codePointAt(0) ?? 0];
  return (code) => code >= low && code <= high;
};
const any = (...tests: CharacterTest[]): CharacterTest => (tests.length === 1 && tests[0] ? tests[0] : (code) => tests.some((test) => test(code)));
const not =
  (test: CharacterTest): CharacterTest =>
  (code) =>
    !test(code);
const oneOf = (characters: string): CharacterTest => {
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

export function parsePattern(pattern: string): PatternNode {
  return new PatternParser(pattern).parse();
}

class PatternParser {
  private readonly pattern: string;
  private readonly characters: string[];
  private position = 0;
  private depth = 0;
  private ignoreCase = false;
  private dotMatchesNewline = false;

  constructor(pattern: string) {
    this.pattern = pattern;
    this.characters = Array.from(pattern);
  }

  parse(): PatternNode {
    const node = this.choice();
    if (this.position < this.characters.length) throw this.error("it has a closing parenthesis too many");
    return node;
  }

  private error(why: string): PatternError {
    return new PatternError(this.pattern, why);
  }

  private peek(): string | undefined {
    return this.characters[this.position];
  }

  private take(text: string): boolean {
    for (let offset = 0; offset < text.length; offset++) if (this.characters[this.position + offset] !== text[offset]) return false;
    this.position += text.length;
    return true;
  }

  private next(): string {
    const character = this.characters[this.position];
    if (character === undefined) throw this.error("it ends too early");
    this.position += 1;
    return character;
  }

  private choice(): PatternNode {
    if (++this.depth > MAX_DEPTH) throw this.error(`it is nested deeper than ${MAX_DEPTH} groups`);
    const options = [this.sequence()];
    while (this.take("|")) options.push(this.sequence());
    this.depth -= 1;
    return options.length === 1 ? (options[0] as PatternNode) : { kind: "choice", options };
  }

  private sequence(): PatternNode {
    const parts: PatternNode[] = [];
    for (let character = this.peek(); character !== undefined && character !== "|" && character !== ")"; character = this.peek()) parts.push(this.repeat(this.atom()));
    return { kind: "sequence", parts };
  }

  private repeat(part: PatternNode): PatternNode {
    const range = this.quantifier();
    if (!range) return part;
    // Lazy repeats match the same texts, and only whether a text matches is of interest.
    this.take("?");
    if (this.quantifier()) throw this.error("a repeat follows a repeat");
    return { kind: "repeat", part, ...range };
  }

  private quantifier(): { min: number; max: number } | undefined {
    if (this.take("*")) return { min: 0, max: Infinity };
    if (this.take("+")) return { min: 1, max: Infinity };
    if (this.take("?")) return { min: 0, max: 1 };
    if (this.peek() !== "{") return undefined;
    const match = /^\{(\d{1,5})(?:(,)(\d{1,5})?)?\}/.exec(this.characters.slice(this.position, this.position + 14).join(""));
    // As in RE2, a brace that is no repeat stands for itself.
    if (!match) return undefined;
    this.position += match[0].length;
    const min = Number(match[1]);
    const max = match[2] === undefined ? min : match[3] === undefined ? Infinity : Number(match[3]);
    if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT)) throw this.error(`it repeats more than ${MAX_REPEAT} times`);
    if (max < min) throw this.error("a repeat has its bounds the wrong way round");
    return { min, max };
  }

  private atom(): PatternNode {
    const character = this.next();
    switch (character) {
      case "(":
        return this.group();
      case "[":
        return this.character(this.characterClass());
      case ".":
        return { kind: "character", test: this.dotMatchesNewline ? () => true : (code) => code !== 10 };
      case "^":
        return { kind: "start" };
      case "$":
        return { kind: "end" };
      case "\\":
        return this.escape();
      case "*":
      case "+":
      case "?":
        throw this.error("a repeat has nothing to repeat");
      default:
        return this.character(oneOf(character));
    }
  }

  private character(test: CharacterTest): PatternNode {
    if (!this.ignoreCase) return { kind: "character", test };
    return {
      kind: "character",
      test: (code) => {
        const text = String.fromCodePoint(code);
        return test(code) || test(text.toLowerCase().codePointAt(0) ?? code) || test(text.toUpperCase().codePointAt(0) ?? code);
      },
    };
  }

  private group(): PatternNode {
    const before = { ignoreCase: this.ignoreCase, dotMatchesNewline: this.dotMatchesNewline };
    if (this.take("?")) {
      if (this.take("P<") || this.take("<")) this.groupName();
      else if (this.readFlags()) return { kind: "empty" };
    }
    const node = this.choice();
    if (!this.take(")")) throw this.error("a group is not closed");
    Object.assign(this, before);
    return node;
  }

  private groupName(): void {
    const first = this.peek();
    if (first === "=" || first === "!") throw this.error("look-behind is not part of RE2");
    while (this.next() !== ">");
  }

  /** Reads `i)` or `i:`; true when the flags stand alone and count until the end of the enclosing group. */
  private readFlags(): boolean {
    let enabled = true;
    for (;;) {
      const flag = this.next();
      if (flag === ":") return false;
      if (flag === ")") return true;
      if (flag === "-") enabled = false;
      else if (flag === "i") this.ignoreCase = enabled;
      else if (flag === "s") this.dotMatchesNewline = enabled;
      else if (flag !== "U") throw this.error(`the group (?${flag} is not supported`);
    }
  }

  private escape(): PatternNode {
    const character = this.next();
    if (character === "A") return { kind: "start" };
    if (character === "z") return { kind: "end" };
    if (character === "Q") return this.quoted();
    return this.character(this.escapedTest(character));
  }

  private quoted(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.position < this.characters.length && !this.take("\\E")) parts.push(this.character(oneOf(this.next())));
    return { kind: "sequence", parts };
  }

  private escapedTest(character: string): CharacterTest {
    const known = CLASSES.get(character);
    if (known) return known;
    if (character === "p" || character === "P") return this.unicodeClass(character === "P");
    return oneOf(this.escapedCharacter(character));
  }

  private escapedCharacter(character: string): string {
    if (character === "x") return this.hexadecimal();
    const control = CONTROLS.get(character);
    if (control) return control;
    if (/[A-Za-z0-9]/.test(character)) throw this.error(`\\${character} is not supported`);
    return character;
  }

  private hexadecimal(): string {
    let digits = "";
    if (this.take("{")) for (let character = this.next(); character !== "}"; character = this.next()) digits += character;
    else digits = this.next() + this.next();
    const code = /^[0-9A-Fa-f]{1,6}$/.test(digits) ? Number.parseInt(digits, 16) : Infinity;
    if (code > 0x10ffff) throw this.error("\\x is not followed by a character code");
    return String.fromCodePoint(code);
  }

  private unicodeClass(negated: boolean): CharacterTest {
    let name = this.next();
    if (name === "{") for (name = ""; this.peek() !== "}"; ) name += this.next();
    if (this.peek() === "}") this.position += 1;
    const inverse = name.startsWith("^") ? !negated : negated;
    const property = name.replace("^", "");
    // One character at a time, so this cannot backtrack. Categories and scripts are named alike in RE2.
    const expression = [`\\p{${property}}`, `\\p{Script=${property}}`].map(unicodeProperty).find((candidate) => candidate !== undefined);
    if (!expression) throw this.error(`\\p{${property}} is not a known class`);
    return (code) => expression.test(String.fromCodePoint(code)) !== inverse;
  }

  private characterClass(): CharacterTest {
    const negated = this.take("^");
    const tests: CharacterTest[] = [];
    for (let first = true; first || this.peek() !== "]"; first = false) {
      const posix = this.posixClass();
      if (posix) {
        tests.push(posix);
        continue;
      }
      const low = this.classCharacter();
      if (typeof low !== "string") {
        tests.push(low);
        continue;
      }
      const isRange = this.peek() === "-" && this.characters[this.position + 1] !== "]" && this.characters[this.position + 1] !== undefined;
      if (!isRange) {
        tests.push(oneOf(low));
        continue;
      }
      this.position += 1;
      const high = this.classCharacter();
      if (typeof high !== "string" || (high.codePointAt(0) ?? 0) < (low.codePointAt(0) ?? 0)) throw this.error("a range of characters is the wrong way round");
      tests.push(inRange(low, high));
    }
    this.position += 1;
    const test = any(...tests);
    return negated ? not(test) : test;
  }

  private classCharacter(): string | CharacterTest {
    const character = this.next();
    if (character !== "\\") return character;
    const escaped = this.next();
    return CLASSES.has(escaped) || escaped === "p" || escaped === "P" ? this.escapedTest(escaped) : this.escapedCharacter(escaped);
  }

  private posixClass(): CharacterTest | undefined {
    const match = /^\[:(\^?)([a-z]+):\]/.exec(this.characters.slice(this.position, this.position + 14).join(""));
    if (!match) return undefined;
    const test = POSIX.get(match[2] ?? "");
    if (!test) throw this.error(`[:${match[2]}:] is not a known class`);
    this.position += match[0].length;
    return match[1] ? not(test) : test;
  }
}

function unicodeProperty(source: string): RegExp | undefined {
  try {
    return new RegExp(`^${source}$`, "u");
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
