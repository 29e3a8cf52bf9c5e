/**
 * Finds matches of a pattern in a text, as Go's regular expressions do: the leftmost match, and of those the one that
 * the pattern prefers. All alternatives advance together, one character at a time, so the time is bounded by text times
 * pattern for untrusted patterns too. `Pattern` is faster for testing whether a text matches at all.
 */
import { compilePattern, type Edge, edgeOf, holds, STEPS_PER_BUILT_STATE } from "../pattern.ts";
import { type Assertion, parsePattern, PatternError, type PatternNode } from "../pattern-parser.ts";
import { CharacterClasses } from "../pattern-program.ts";
import { MAX_STATES } from "../pattern-size.ts";
import { PatternWork, PatternWorkError } from "../pattern-work.ts";
import { MAX_SEARCH_STEPS } from "./frame.ts";
import { CelError } from "./values.ts";

type Instruction =
  | { readonly op: "character"; readonly class: number }
  | { op: "split"; first: number; second: number }
  | { op: "jump"; to: number }
  | { readonly op: "assertion"; readonly assertion: Assertion }
  | { readonly op: "match" };

export interface Found {
  readonly start: number;
  readonly end: number;
}

export class Finder {
  private readonly program: Instruction[] = [];
  private readonly classes = new CharacterClasses();

  constructor(pattern: string) {
    this.emit(parsePattern(pattern));
    this.add({ op: "match" });
  }

  get size(): number {
    return this.program.length;
  }

  /**
   * The first match at or after a position. Throws `PatternWorkError` when the search takes more steps than are left.
   */
  find(text: string, from: number, work = new PatternWork()): Found | undefined {
    let [current, next] = room;
    current.clear();
    next.clear();
    let found: Found | undefined;
    for (let position = from; ;) {
      // A match that starts here is worse than any that started before.
      if (!found) this.follow(current, 0, position, position, text);
      if (current.size === 0 && found) return found;
      const code = text.codePointAt(position);
      const width = code === undefined ? 0 : code > 0xffff ? 2 : 1;
      if (code !== undefined) this.classes.look(code);
      for (let index = 0; index < current.size; index++) {
        const at = current.dense[index] as number;
        const start = current.starts[index] as number;
        const instruction = this.program[at] as Instruction;
        if (instruction.op === "match") {
          found = { start, end: position };
          // Later threads in the list are less preferred.
          break;
        }
        if (instruction.op === "character" && code !== undefined && this.classes.has(instruction.class))
          this.follow(next, at + 1, start, position + width, text);
      }
      if (code === undefined) return found;
      work.spend(1 + current.visited + this.classes.steps);
      [current, next] = [next, current];
      next.clear();
      position += width;
    }
  }

  /** All non-overlapping matches, at most `limit` unless that is negative. */
  *findAll(text: string, limit: number, work = new PatternWork()): Generator<string> {
    let position = 0;
    let previousEnd = -1;
    let count = 0;
    while (position <= text.length && count !== limit) {
      const match = this.find(text, position, work);
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

  /** Adds a thread, following all transitions that consume no character, most preferred first. */
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
    return this.program.push(instruction) - 1;
  }

  private emit(node: PatternNode): void {
    switch (node.kind) {
      case "character":
        this.add({ op: "character", class: this.classes.idOf(node.test, node.weight) });
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
      const split =
        index < options.length - 1 ? this.add({ op: "split", first: this.program.length + 1, second: 0 }) : undefined;
      this.emit(option);
      if (split === undefined) continue;
      exits.push(this.add({ op: "jump", to: 0 }));
      this.program[split] = { op: "split", first: split + 1, second: this.program.length };
    }
    for (const exit of exits) this.program[exit] = { op: "jump", to: this.program.length };
  }

  private emitRepeat({ part, min, max, isLazy }: PatternNode & { kind: "repeat" }): void {
    const isEndless = max === Infinity;
    // The last of the required copies is the one that repeats.
    for (let count = isEndless ? 1 : 0; count < min; count++) this.emit(part);
    const skips: number[] = [];
    if (isEndless) {
      if (min === 0) skips.push(this.add({ op: "jump", to: 0 }));
      const body = this.program.length;
      this.emit(part);
      const after = this.program.length + 1;
      this.add({ op: "split", first: isLazy ? after : body, second: isLazy ? body : after });
    } else {
      for (let count = min; count < max; count++) {
        skips.push(this.add({ op: "jump", to: 0 }));
        this.emit(part);
      }
    }
    const after = this.program.length;
    for (const skip of skips)
      this.program[skip] = { op: "split", first: isLazy ? after : skip + 1, second: isLazy ? skip + 1 : after };
  }
}

const edgeBefore = (text: string, position: number): Edge =>
  position === 0 ? "none" : edgeOf(text.charCodeAt(position - 1));
const edgeAfter = (text: string, position: number): Edge =>
  position === text.length ? "none" : edgeOf(text.charCodeAt(position));

/** The states of all alternatives, most preferred first, each state once. */
class Threads {
  readonly dense: number[] = [];
  readonly starts: number[] = [];
  size = 0;
  visited = 0;
  /** Doubles do not overflow. */
  private readonly seen: Float64Array;
  private generation = 1;

  constructor(places: number) {
    this.seen = new Float64Array(places);
  }

  clear(): void {
    this.size = 0;
    this.visited = 0;
    this.generation += 1;
  }

  visit(place: number): boolean {
    if (this.seen[place] === this.generation) return false;
    this.seen[place] = this.generation;
    this.visited += 1;
    return true;
  }

  push(place: number, start: number): void {
    this.dense[this.size] = place;
    this.starts[this.size] = start;
    this.size += 1;
  }
}

/** Each state of a pattern takes at most two instructions, plus one at the end. */
const MAX_INSTRUCTIONS = 2 * MAX_STATES + 1;
/** A search is synchronous, so all searches share the thread lists. */
const room: readonly [Threads, Threads] = [new Threads(MAX_INSTRUCTIONS), new Threads(MAX_INSTRUCTIONS)];

const finders = new Map<string, Finder>();
let keptInstructions = 0;
const MAX_FINDERS = 1000;
const MAX_KEPT_INSTRUCTIONS = 1_000_000;

/** Compiled patterns are cached. Throws `PatternError`. */
export function finderOf(pattern: string, work = new PatternWork()): Finder {
  let finder = finders.get(pattern);
  if (!finder) {
    finder = new Finder(pattern);
    if (finders.size >= MAX_FINDERS || keptInstructions + finder.size > MAX_KEPT_INSTRUCTIONS) {
      finders.clear();
      keptInstructions = 0;
    }
    finders.set(pattern, finder);
    keptInstructions += finder.size;
    work.spend(finder.size * STEPS_PER_BUILT_STATE);
  }
  return finder;
}

let lastSteps = 0;

/**
 * The steps of the last search; reading resets them. Evaluation is synchronous, and a call is charged right after it.
 */
export function takeSearchSteps(): number {
  const steps = lastSteps;
  lastSteps = 0;
  return steps;
}

/** Runs one search. An invalid pattern, and a search that takes too long, are errors of the expression. */
export function search<T>(pattern: string, run: (work: PatternWork) => T): T | CelError {
  const work = new PatternWork(MAX_SEARCH_STEPS);
  lastSteps = 0;
  try {
    return run(work);
  } catch (error) {
    if (error instanceof PatternWorkError) return new CelError(error.message);
    if (!(error instanceof PatternError)) throw error;
    // The pattern was parsed to detect the error, and is not cached.
    lastSteps = pattern.length * STEPS_PER_BUILT_STATE;
    return new CelError(error.problem);
  } finally {
    lastSteps += work.steps;
  }
}

export function matchesPattern(text: string, pattern: string): boolean | CelError {
  return search(pattern, (work) => compilePattern(pattern).test(text, work));
}

/** The error of an invalid pattern. Does not build the automaton. */
export function patternProblem(pattern: string): CelError | undefined {
  const result = search(pattern, () => compilePattern(pattern));
  return result instanceof CelError ? result : undefined;
}
