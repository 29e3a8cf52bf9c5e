/**
 * Matches `pattern` of a schema in time linear in the text, whoever wrote the pattern: JavaScript's RegExp backtracks,
 * and a CustomResourceDefinition with `(a+)+$` would stop the server. The expression becomes a nondeterministic
 * automaton whose reachable state sets are turned into deterministic states as texts need them. Where texts need ever
 * new ones, which a pattern can be made for, the sets themselves are followed; and all of it is counted
 * (`PatternWork`).
 */
import { parsePattern, type Assertion } from "./pattern-parser.ts";
import { ASSERTION, CHARACTER, MATCH, MAX_PROGRAM_SIZE, PatternProgram, SPLIT } from "./pattern-program.ts";
import { sizeOf } from "./pattern-size.ts";
import { StateSet } from "./pattern-states.ts";
import { PatternWork } from "./pattern-work.ts";

export interface Pattern {
  /**
   * Whether the pattern is found anywhere in the text. Throws `PatternWorkError` when that takes more steps than are
   * left.
   */
  test(text: string, work?: PatternWork): boolean;
}

/**
 * Deterministic states with the members of their sets, and steps between them, that one pattern keeps. When a text
 * makes more, all are dropped.
 */
const MAX_CACHED_STATES = 500;
const MAX_CACHED_MEMBERS = 50_000;
const MAX_CACHED_STEPS = 10_000;
/**
 * A deterministic state that is used less often than this does not pay: making and keeping it takes longer than
 * following its set.
 */
const USES_THAT_PAY = 25;
/**
 * For how many characters sets are followed once states did not pay. Then they are tried again: other texts may be
 * kinder.
 */
const CHARACTERS_WITHOUT_CACHE = 100_000;
/** Making a deterministic state takes as long as looking at so many states for each of its members. */
const STEPS_PER_MADE_MEMBER = 4;
/** Building a state takes as long as looking at so many. Whoever uses a pattern first pays for it. */
export const STEPS_PER_BUILT_STATE = 12;

/** What is known of the character before: nothing (the beginning), a word's, a line's end, or another. */
export type Edge = "none" | "word" | "newline" | "other";

interface DeterministicState {
  /** Reached without a character and without regard to assertions, which depend on the next one. */
  readonly states: Int32Array;
  readonly before: Edge;
  readonly matched: boolean;
  readonly matchedAtEnd: boolean;
  readonly transitions: Map<number, DeterministicState>;
}

/** Once found, always found. */
const FOUND: DeterministicState = {
  states: new Int32Array(0),
  before: "none",
  matched: true,
  matchedAtEnd: true,
  transitions: new Map(),
};

export function edgeOf(code: number): Edge {
  if (code === 10) return "newline";
  const isWord = (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
  return isWord ? "word" : "other";
}

/** Whether an assertion holds between two characters; `none` after is the end. */
export function holds(assertion: Assertion, before: Edge, after: Edge): boolean {
  switch (assertion) {
    case "start":
      return before === "none";
    case "end":
      return after === "none";
    case "lineStart":
      return before === "none" || before === "newline";
    case "lineEnd":
      return after === "none" || after === "newline";
    case "word":
      return (before === "word") !== (after === "word");
    default:
      return (before === "word") === (after === "word");
  }
}

const compiled = new Map<string, Pattern>();
let compiledStates = 0;
const MAX_COMPILED = 10_000;
const MAX_COMPILED_STATES = 500_000;

/**
 * Throws `PatternError` for what is no regular expression or one that is refused. The automaton is built when it is
 * first used: a schema may hold thousands of patterns that stand for thousands of states each.
 */
export function compilePattern(pattern: string): Pattern {
  let found = compiled.get(pattern);
  if (!found) {
    const size = sizeOf(parsePattern(pattern));
    if (compiled.size >= MAX_COMPILED || compiledStates + size > MAX_COMPILED_STATES) {
      compiled.clear();
      compiledStates = 0;
    }
    found = new LazyPattern(pattern, size);
    compiled.set(pattern, found);
    compiledStates += size;
  }
  return found;
}

/** Matching is never interrupted, so all patterns share the room in which their sets are made. */
const room = {
  current: new StateSet(MAX_PROGRAM_SIZE),
  next: new StateSet(MAX_PROGRAM_SIZE),
  open: new Int32Array(2 * MAX_PROGRAM_SIZE),
};

class LazyPattern implements Pattern {
  private readonly pattern: string;
  private readonly size: number;
  private automaton: Automaton | undefined;

  constructor(pattern: string, size: number) {
    this.pattern = pattern;
    this.size = size;
  }

  test(text: string, work: PatternWork = new PatternWork()): boolean {
    if (!this.automaton) {
      work.spend(this.size * STEPS_PER_BUILT_STATE);
      this.automaton = new Automaton(new PatternProgram(this.pattern));
    }
    return this.automaton.test(text, work);
  }
}

class Automaton {
  private readonly program: PatternProgram;
  private readonly hasAssertions: boolean;
  private cache = new Map<string, DeterministicState>();
  private cachedMembers = 0;
  private cachedSteps = 0;
  /** Characters that the cache was used for since it was last dropped. */
  private uses = 0;
  private charactersWithoutCache = 0;
  private start: DeterministicState | undefined;

  constructor(program: PatternProgram) {
    this.program = program;
    this.hasAssertions = program.assertions.length > 0;
  }

  test(text: string, work: PatternWork): boolean {
    work.spend(text.length);
    let current = (this.start ??= this.first(work));
    for (let index = 0; index < text.length; index++) {
      if (current.matched) return true;
      if (this.charactersWithoutCache > 0) return this.follow(text, index, current, work);
      const code = text.codePointAt(index) ?? 0;
      if (code > 0xffff) index += 1;
      this.uses += 1;
      current = current.transitions.get(code) ?? this.step(current, code, work);
    }
    return current.matched || current.matchedAtEnd;
  }

  private first(work: PatternWork): DeterministicState {
    const { current } = room;
    current.clear();
    this.enter(current, this.program.entry);
    return this.deterministic(current, "none", work);
  }

  private step(from: DeterministicState, code: number, work: PatternWork): DeterministicState {
    this.load(from);
    const isFound = this.advance(from.before, code, work);
    const to = isFound ? FOUND : this.deterministic(room.current, this.hasAssertions ? edgeOf(code) : "other", work);
    if (this.cachedSteps >= MAX_CACHED_STEPS) this.forget();
    this.cachedSteps += 1;
    from.transitions.set(code, to);
    return to;
  }

  /** Matches the rest of a text without making states. */
  private follow(text: string, from: number, state: DeterministicState, work: PatternWork): boolean {
    let { before } = state;
    this.load(state);
    for (let index = from; index < text.length; index++) {
      const code = text.codePointAt(index) ?? 0;
      if (code > 0xffff) index += 1;
      this.charactersWithoutCache -= 1;
      if (this.advance(before, code, work)) return true;
      before = edgeOf(code);
    }
    return this.isFoundAtEnd(room.current, before);
  }

  private load({ states }: DeterministicState): void {
    const { current } = room;
    current.clear();
    for (const id of states) if (current.visit(id)) current.push(id);
  }

  /** Moves the current set over a character. True when the pattern was found before that. */
  private advance(before: Edge, code: number, work: PatternWork): boolean {
    const { current, next } = room;
    const { kinds, next: following, other, classes, entry } = this.program;
    if (this.hasAssertions) this.pass(current, before, edgeOf(code));
    classes.look(code);
    next.clear();
    for (let index = 0; index < current.size; index++) {
      const id = current.members[index] as number;
      if (kinds[id] === MATCH) return true;
      if (kinds[id] === CHARACTER && classes.has(other[id] as number)) this.enter(next, following[id] as number);
    }
    // A match may begin at every character.
    this.enter(next, entry);
    work.spend(current.size + next.visited + classes.steps);
    room.current = next;
    room.next = current;
    return false;
  }

  /** Adds a state and what is reached from it without a character and without regard to assertions. */
  private enter(set: StateSet, entry: number): void {
    const { kinds, next, other } = this.program;
    const { open } = room;
    let count = 0;
    open[count++] = entry;
    while (count > 0) {
      const id = open[--count] as number;
      if (!set.visit(id)) continue;
      if (kinds[id] === SPLIT) {
        open[count++] = next[id] as number;
        open[count++] = other[id] as number;
      } else set.push(id);
    }
  }

  /** Adds what is reached through the assertions that hold between two characters. The set grows while it is walked. */
  private pass(set: StateSet, before: Edge, after: Edge): void {
    const { kinds, next, other, assertions } = this.program;
    for (let index = 0; index < set.size; index++) {
      const id = set.members[index] as number;
      if (kinds[id] === ASSERTION && holds(assertions[other[id] as number] as Assertion, before, after))
        this.enter(set, next[id] as number);
    }
  }

  private isFoundAtEnd(set: StateSet, before: Edge): boolean {
    if (this.hasAssertions) this.pass(set, before, "none");
    return set.hasVisited(MATCH);
  }

  private deterministic(set: StateSet, before: Edge, work: PatternWork): DeterministicState {
    const states = set.members.slice(0, set.size).sort();
    const key = `${before} ${String.fromCharCode(...states)}`;
    let found = this.cache.get(key);
    if (!found) {
      work.spend(states.length * STEPS_PER_MADE_MEMBER);
      if (this.cache.size >= MAX_CACHED_STATES || this.cachedMembers > MAX_CACHED_MEMBERS) this.forget();
      found = {
        states,
        before,
        matched: set.hasVisited(MATCH),
        matchedAtEnd: this.isFoundAtEnd(set, before),
        transitions: new Map(),
      };
      this.cache.set(key, found);
      this.cachedMembers += states.length;
    }
    return found;
  }

  private forget(): void {
    if (this.uses < this.cache.size * USES_THAT_PAY || this.uses < this.cachedSteps * 2)
      this.charactersWithoutCache = CHARACTERS_WITHOUT_CACHE;
    for (const state of this.cache.values()) state.transitions.clear();
    this.cache = new Map();
    this.start = undefined;
    this.cachedMembers = 0;
    this.cachedSteps = 0;
    this.uses = 0;
  }
}
