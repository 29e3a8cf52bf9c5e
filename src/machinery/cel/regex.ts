/**
 * Finds what a pattern matches in a text, as Go's regular expressions do: the leftmost match, and of those the one that the
 * pattern prefers. All alternatives advance together, one character at a time, so the time is bounded by text times pattern,
 * whoever wrote the pattern. Whether a text matches at all is answered by `Pattern`, which is faster.
 */
import { compilePattern, type Edge, edgeOf, holds } from "../pattern.ts";
import { type Assertion, type CharacterTest, parsePattern, PatternError, type PatternNode } from "../pattern-parser.ts";
import { CelError } from "./values.ts";

type Instruction =
  | { readonly op: "character"; readonly test: CharacterTest }
  | { op: "split"; first: number; second: number }
  | { op: "jump"; to: number }
  | { readonly op: "assertion"; readonly assertion: Assertion }
  | { readonly op: "match" };

export interface Found {
  readonly start: number;
  readonly end: number;
}

const MAX_INSTRUCTIONS = 20_000;

export class Finder {
  private readonly pattern: string;
  private readonly program: Instruction[] = [];

  constructor(pattern: string) {
    this.pattern = pattern;
    this.emit(parsePattern(pattern));
    this.add({ op: "match" });
  }

  /** The first match at or after a position. */
  find(text: string, from: number): Found | undefined {
    let current = new Threads(this.program.length);
    let next = new Threads(this.program.length);
    let found: Found | undefined;
    for (let position = from; ; ) {
      // A match that begins here is worse than any that began before.
      if (!found) this.follow(current, 0, position, position, text);
      if (current.count === 0 && found) return found;
      const code = text.codePointAt(position);
      const width = code === undefined ? 0 : code > 0xffff ? 2 : 1;
      for (let index = 0; index < current.count; index++) {
        const at = current.dense[index] as number;
        const start = current.starts[index] as number;
        const instruction = this.program[at] as Instruction;
        if (instruction.op === "match") {
          found = { start, end: position };
          // Whatever comes later in the list is less preferred.
          break;
        }
        if (instruction.op === "character" && code !== undefined && instruction.test(code)) this.follow(next, at + 1, start, position + width, text);
      }
      if (code === undefined) return found;
      [current, next] = [next, current];
      next.count = 0;
      position += width;
    }
  }

  /** All matches that do not overlap, at most `limit` unless that is negative. */
  *findAll(text: string, limit: number): Generator<string> {
    let position = 0;
    let previousEnd = -1;
    let count = 0;
    while (position <= text.length && count !== limit) {
      const match = this.find(text, position);
      if (!match) return;
      const isEmptyHere = match.end === position;
      const isFresh = !isEmptyHere || match.start !== previousEnd;
      position = isEmptyHere ? position + ((text.codePointAt(position) ?? 0) > 0xffff ? 2 : 1) : match.end;
      previousEnd = match.end;
      if (!isFresh) continue;
      count += 1;
      yield text.slice(match.start, match.end);
    }
  }

  /** Adds a thread, through all that needs no character, most preferred first. */
  private follow(threads: Threads, entry: number, start: number, position: number, text: string): void {
    const open = [entry];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (!threads.visit(at)) continue;
      const instruction = this.program[at] as Instruction;
      switch (instruction.op) {
        case "jump":
          open.push(instruction.to);
          break;
        case "split":
          open.push(instruction.second, instruction.first);
          break;
        case "assertion":
          if (holds(instruction.assertion, edgeBefore(text, position), edgeAfter(text, position))) open.push(at + 1);
          break;
        default:
          threads.push(at, start);
      }
    }
  }

  private add(instruction: Instruction): number {
    if (this.program.length >= MAX_INSTRUCTIONS) throw new PatternError(this.pattern, "expression too large", this.pattern.slice(0, 64));
    return this.program.push(instruction) - 1;
  }

  private emit(node: PatternNode): void {
    switch (node.kind) {
      case "character":
        this.add({ op: "character", test: node.test });
        return;
      case "assertion":
        this.add({ op: "assertion", assertion: node.assertion });
        return;
      case "sequence":
        for (const part of node.parts) this.emit(part);
        return;
      case "choice":
        this.emitChoice(node.options);
        return;
      case "repeat":
        this.emitRepeat(node);
        return;
      default:
    }
  }

  private emitChoice(options: readonly PatternNode[]): void {
    const exits: number[] = [];
    for (const [index, option] of options.entries()) {
      const split = index < options.length - 1 ? this.add({ op: "split", first: this.program.length + 1, second: 0 }) : undefined;
      this.emit(option);
      if (split === undefined) continue;
      exits.push(this.add({ op: "jump", to: 0 }));
      this.program[split] = { op: "split", first: split + 1, second: this.program.length };
    }
    for (const exit of exits) this.program[exit] = { op: "jump", to: this.program.length };
  }

  private emitRepeat({ part, min, max, isLazy }: PatternNode & { kind: "repeat" }): void {
    for (let count = 0; count < min; count++) this.emit(part);
    const skips: number[] = [];
    if (max === Infinity) {
      const split = this.add({ op: "jump", to: 0 });
      this.emit(part);
      this.add({ op: "jump", to: split });
      skips.push(split);
    } else {
      for (let count = min; count < max; count++) {
        skips.push(this.add({ op: "jump", to: 0 }));
        this.emit(part);
      }
    }
    const after = this.program.length;
    for (const skip of skips) this.program[skip] = { op: "split", first: isLazy ? after : skip + 1, second: isLazy ? skip + 1 : after };
  }
}

const edgeBefore = (text: string, position: number): Edge => (position === 0 ? "none" : edgeOf(text.charCodeAt(position - 1)));
const edgeAfter = (text: string, position: number): Edge => (position === text.length ? "none" : edgeOf(text.charCodeAt(position)));

/** Where all alternatives are, most preferred first, each place once. */
class Threads {
  readonly dense: number[] = [];
  readonly starts: number[] = [];
  private readonly seen: Int32Array;
  private generation = 1;
  private size = 0;

  constructor(places: number) {
    this.seen = new Int32Array(places);
  }

  get count(): number {
    return this.size;
  }

  set count(_: 0) {
    this.size = 0;
    this.generation += 1;
  }

  visit(place: number): boolean {
    if (this.seen[place] === this.generation) return false;
    this.seen[place] = this.generation;
    return true;
  }

  push(place: number, start: number): void {
    this.dense[this.size] = place;
    this.starts[this.size] = start;
    this.size += 1;
  }
}

const finders = new Map<string, Finder>();
const MAX_FINDERS = 1000;

/** Patterns that are used again are compiled once. */
export function finderOf(pattern: string): Finder | CelError {
  let finder = finders.get(pattern);
  if (!finder) {
    const made = guarded(() => new Finder(pattern));
    if (made instanceof CelError) return made;
    finder = made;
    if (finders.size >= MAX_FINDERS) finders.clear();
    finders.set(pattern, finder);
  }
  return finder;
}

export function matchesPattern(text: string, pattern: string): boolean | CelError {
  return guarded(() => compilePattern(pattern).test(text));
}

function guarded<T>(run: () => T): T | CelError {
  try {
    return run();
  } catch (error) {
    if (error instanceof PatternError) return new CelError(error.problem);
    throw error;
  }
}
