/**
 * Lua patterns on byte text, with gopher-lua's semantics and messages. A repetition backtracks in a loop, so the stack
 * grows with the pattern and not with the text; every step is charged.
 */

/** Called with the work done. */
export type Charge = (steps: number) => void;

/** Thrown for an invalid pattern. */
export class PatternError extends Error {}

type ByteSet = Uint8Array;

/** A member of a set in brackets; `single` if it is one plain byte, with which a range may begin or end. */
interface Member {
  set: ByteSet;
  single: number | undefined;
}

type Item =
  | { kind: "one"; set: ByteSet }
  | { kind: "repeat"; sign: string; set: ByteSet }
  | { kind: "open" | "close" | "position"; capture: number }
  | { kind: "balanced"; begin: number; end: number }
  | { kind: "again"; capture: number };

interface Pattern {
  items: Item[];
  isAtStart: boolean;
  isAtEnd: boolean;
  captures: number;
}

/** A capture is text, or a one-based position. */
export interface Match {
  start: number;
  end: number;
  captures: (string | number)[];
}

const END = -1;
const ANY: ByteSet = new Uint8Array(256).fill(1);
/** Cost of a matcher step, relative to a round of an empty loop. */
const STEP_TICKS = 3;
/** Cost of reading a byte of a pattern: each becomes an item, or a member of a set. */
const READ_TICKS = 10;
/** Cost of writing the 256 bytes of a set. */
const SET_TICKS = 100;
/** Each may add a call to the stack. */
const MAX_BRANCHES = 1000;

/** The matches from an offset on; all of them, or at most `limit`. */
export function findMatches(
  patternBytes: string,
  text: string,
  offset: number,
  limit: number,
  charge: Charge,
): Match[] {
  charge(READ_TICKS * patternBytes.length);
  const pattern = new PatternReader(patternBytes, charge).read();
  const matcher = new Matcher(pattern, text, charge);
  const matches: Match[] = [];
  for (let at = offset; at <= text.length;) {
    const match = matcher.at(at);
    at += 1;
    if (match) {
      at = Math.max(at, match.end);
      matches.push(match);
    }
    if (matches.length === limit || pattern.isAtStart) break;
  }
  return matches;
}

class PatternReader {
  readonly #source: string;
  readonly #charge: Charge;
  readonly #items: Item[] = [];
  #at = 0;
  #captures = 0;
  /** Index of the last byte read, for messages; -1 once the end was read. */
  #last = 0;
  #branches = 0;

  constructor(source: string, charge: Charge) {
    this.#source = source;
    this.#charge = charge;
  }

  read(): Pattern {
    let isAtStart = false;
    if (this.#peek() === "^") {
      this.#next();
      isAtStart = true;
    }
    const isAtEnd = this.#sequence(true);
    if (this.#branches > MAX_BRANCHES)
      throw new PatternError(`pattern with more than ${MAX_BRANCHES} repetitions and captures`);
    return { items: this.#items, isAtStart, isAtEnd, captures: this.#captures };
  }

  #peek(): string {
    return this.#source[this.#at] ?? "";
  }

  #next(): number {
    if (this.#at >= this.#source.length) {
      this.#last = END;
      return END;
    }
    this.#last = this.#at;
    return this.#source.charCodeAt(this.#at++);
  }

  #error(message: string): PatternError {
    return new PatternError(this.#last === END ? `${message} at EOS` : `${message} at ${this.#last}`);
  }

  /** Returns whether it ends with `$`. */
  #sequence(isTop: boolean): boolean {
    for (;;) {
      const ch = this.#peek();
      switch (ch) {
        case "":
          this.#next();
          return false;
        case "%":
          this.#escape();
          break;
        case ".":
        case "[":
          this.#items.push({ kind: "one", set: this.#class() });
          break;
        case ")":
          if (isTop) throw this.#error("invalid ')'");
          return false;
        case "(":
          this.#next();
          this.#capture();
          break;
        case "*":
        case "+":
        case "-":
        case "?":
          this.#next();
          this.#repeat(ch);
          break;
        case "$":
          this.#next();
          if (isTop && this.#at === this.#source.length) return true;
          this.#items.push({ kind: "one", set: only(36) });
          break;
        default:
          this.#items.push({ kind: "one", set: only(this.#next()) });
      }
    }
  }

  #escape(): void {
    const follower = this.#source[this.#at + 1] ?? "";
    if (follower >= "0" && follower <= "9") {
      this.#next();
      if (follower === "0") throw this.#error("invalid capture index");
      this.#next();
      this.#items.push({ kind: "again", capture: Number(follower) - 1 });
    } else if (follower === "b") {
      this.#next();
      this.#next();
      this.#items.push({ kind: "balanced", begin: this.#next(), end: this.#next() });
    } else {
      this.#items.push({ kind: "one", set: this.#class() });
    }
  }

  #capture(): void {
    const capture = this.#captures++;
    this.#branches += 2;
    if (this.#peek() === ")") {
      this.#next();
      this.#items.push({ kind: "position", capture });
      return;
    }
    if (this.#branches > MAX_BRANCHES)
      throw new PatternError(`pattern with more than ${MAX_BRANCHES} repetitions and captures`);
    this.#items.push({ kind: "open", capture });
    this.#sequence(false);
    if (this.#peek() !== ")") throw this.#error("unfinished capture");
    this.#next();
    this.#items.push({ kind: "close", capture });
  }

  /** A quantifier after an item that cannot be repeated is literal. */
  #repeat(sign: string): void {
    const before = this.#items.at(-1);
    if (before?.kind !== "one") {
      this.#items.push({ kind: "one", set: only(sign.charCodeAt(0)) });
      return;
    }
    this.#branches += 1;
    this.#items[this.#items.length - 1] = { kind: "repeat", sign, set: before.set };
  }

  #class(): ByteSet {
    const code = this.#next();
    if (code === 37) return namedSet(this.#next());
    if (code === 46) return ANY;
    if (code === 91) return this.#set();
    return only(code);
  }

  #set(): ByteSet {
    const isNot = this.#peek() === "^";
    if (isNot) this.#next();
    this.#charge(SET_TICKS);
    const set = new Uint8Array(256);
    /** Not yet in the set: a range may follow, which replaces it. */
    let last: Member | undefined;
    let isRange = false;
    for (;;) {
      const ch = this.#peek();
      if (ch === "") {
        if (this.#last !== END) this.#last = this.#source.length - 1;
        throw this.#error("unexpected EOS");
      }
      if (ch === "]" && last) {
        this.#next();
        break;
      }
      if (ch === "-" && last) {
        this.#next();
        isRange = true;
        continue;
      }
      const member = this.#member();
      if (isRange) {
        this.#charge(SET_TICKS);
        last = { set: range(last?.single, member.single), single: undefined };
        isRange = false;
      } else {
        this.#add(set, last);
        last = member;
      }
    }
    this.#add(set, last);
    if (isRange) set[45] = 1;
    if (isNot) for (let byte = 0; byte < 256; byte++) set[byte] = set[byte] === 1 ? 0 : 1;
    return set;
  }

  #member(): Member {
    const code = this.#next();
    return code === 37 ? { set: namedSet(this.#next()), single: undefined } : { set: only(code), single: code };
  }

  #add(set: ByteSet, member: Member | undefined): void {
    if (member?.single !== undefined) set[member.single] = 1;
    else if (member) {
      this.#charge(SET_TICKS);
      for (let byte = 0; byte < 256; byte++) if (member.set[byte] === 1) set[byte] = 1;
    }
  }
}

class Matcher {
  readonly #pattern: Pattern;
  readonly #text: string;
  readonly #charge: Charge;
  readonly #starts: number[] = [];
  /** The end of each capture; -1 marks a position. */
  readonly #ends: number[] = [];
  #known = 0;

  constructor(pattern: Pattern, text: string, charge: Charge) {
    this.#pattern = pattern;
    this.#text = text;
    this.#charge = charge;
  }

  at(start: number): Match | undefined {
    this.#known = 0;
    const end = this.#match(0, start);
    if (end < 0) return undefined;
    const captures: (string | number)[] = [];
    for (let index = 0; index < this.#pattern.captures; index++) {
      const from = this.#starts[index] ?? 0;
      const to = this.#ends[index] ?? 0;
      captures.push(to === END ? from : this.#text.slice(from, to));
    }
    this.#charge(end - start);
    return { start, end, captures };
  }

  /** The end of the match of the items from that one on, or -1. */
  #match(from: number, start: number): number {
    const { items, isAtEnd } = this.#pattern;
    let at = start;
    for (let index = from; index < items.length; index++) {
      const item = items[index];
      if (item === undefined) break;
      this.#charge(STEP_TICKS);
      switch (item.kind) {
        case "one":
          if (at >= this.#text.length || item.set[this.#text.charCodeAt(at)] !== 1) return END;
          at += 1;
          break;
        case "repeat":
          return this.#repeat(item.sign, item.set, index + 1, at);
        case "open": {
          const before = this.#starts[item.capture];
          this.#starts[item.capture] = at;
          const end = this.#match(index + 1, at);
          if (end < 0 && before !== undefined) this.#starts[item.capture] = before;
          return end;
        }
        case "close": {
          const before = this.#ends[item.capture];
          this.#ends[item.capture] = at;
          this.#known = Math.max(this.#known, item.capture + 1);
          const end = this.#match(index + 1, at);
          if (end < 0 && before !== undefined) this.#ends[item.capture] = before;
          return end;
        }
        case "position":
          this.#starts[item.capture] = at + 1;
          this.#ends[item.capture] = END;
          this.#known = Math.max(this.#known, item.capture + 1);
          break;
        case "balanced": {
          at = this.#balanced(item.begin, item.end, at);
          if (at < 0) return END;
          break;
        }
        case "again": {
          if (item.capture >= this.#known) throw new PatternError("invalid capture index");
          const from = this.#starts[item.capture] ?? 0;
          const text = this.#text.slice(from, this.#ends[item.capture]);
          this.#charge(text.length);
          if (!this.#text.startsWith(text, at)) return END;
          at += text.length;
          break;
        }
      }
    }
    return isAtEnd && at < this.#text.length ? END : at;
  }

  #repeat(sign: string, set: ByteSet, rest: number, start: number): number {
    const isMatch = (at: number): boolean => at < this.#text.length && set[this.#text.charCodeAt(at)] === 1;
    if (sign === "-") {
      for (let at = start; ; at++) {
        const end = this.#match(rest, at);
        if (end >= 0) return end;
        this.#charge(1);
        if (!isMatch(at)) return END;
      }
    }
    const most = sign === "?" ? 1 : Infinity;
    let count = 0;
    while (count < most && isMatch(start + count)) count += 1;
    this.#charge(count);
    for (const least = sign === "+" ? 1 : 0; count >= least; count--) {
      const end = this.#match(rest, start + count);
      if (end >= 0) return end;
    }
    return END;
  }

  #balanced(begin: number, end: number, start: number): number {
    if (start >= this.#text.length || this.#text.charCodeAt(start) !== begin) return END;
    let open = 1;
    for (let at = start + 1; at < this.#text.length; at++) {
      this.#charge(1);
      const code = this.#text.charCodeAt(at);
      if (code === end) open -= 1;
      if (open === 0) return at + 1;
      if (code === begin) open += 1;
    }
    return END;
  }
}

/** Shared by all patterns: a long pattern has as many items as characters. */
const onlySets = new Map<number, ByteSet>();

function only(code: number): ByteSet {
  let set = onlySets.get(code);
  if (!set) {
    set = new Uint8Array(256);
    if (code >= 0) set[code] = 1;
    onlySets.set(code, set);
  }
  return set;
}

/** Only between two plain bytes; a class at either end matches nothing. */
function range(begin: number | undefined, end: number | undefined): ByteSet {
  const set = new Uint8Array(256);
  if (begin !== undefined && end !== undefined && end >= begin) set.fill(1, begin, end + 1);
  return set;
}

const NAMED: ReadonlyMap<string, RegExp> = new Map([
  ["a", /[A-Za-z]/],
  // oxlint-disable-next-line no-control-regex -- the class of control characters.
  ["c", /[\0-\x1f\x7f]/],
  ["d", /\d/],
  ["l", /[a-z]/],
  ["p", /[!-/:-@[-`{-~]/],
  ["s", /[ \f\n\r\t\v]/],
  ["u", /[A-Z]/],
  ["w", /[0-9A-Za-z]/],
  ["x", /[0-9A-Fa-f]/],
  // oxlint-disable-next-line no-control-regex -- the class of the byte zero.
  ["z", /\0/],
]);
const namedSets = new Map<number, ByteSet>();

/** `%a` and the like; a capital letter negates, any other character is literal. */
function namedSet(code: number): ByteSet {
  const known = namedSets.get(code);
  if (known) return known;
  const letter = code < 0 ? "" : String.fromCharCode(code);
  const members = NAMED.get(letter.toLowerCase());
  if (!members) return only(code);
  const isOpposite = letter !== letter.toLowerCase();
  const set = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte++) set[byte] = members.test(String.fromCharCode(byte)) !== isOpposite ? 1 : 0;
  namedSets.set(code, set);
  return set;
}
