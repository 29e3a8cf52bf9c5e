/**
 * Reports whether a pattern matches anywhere in a text. The sets of states that are reachable together become
 * deterministic states on demand. Where texts keep needing new ones, which a hostile pattern can cause, the sets
 * themselves are followed.
 */
import { edgeOf, holds, type Edge } from "./edges.ts";
import { ASSERTION, CHARACTER, MATCH, type PatternProgram, SPLIT } from "./program.ts";
import { room, type StateSet } from "./state-set.ts";
import type { Assertion } from "./syntax.ts";
import type { PatternWork } from "./pattern-work.ts";

/**
 * The cache size of one pattern: deterministic states with their members, and transitions. When a text needs more, the
 * cache is dropped.
 */
const MAX_CACHED_STATES = 500;
const MAX_CACHED_MEMBERS = 50_000;
const MAX_CACHED_STEPS = 10_000;
/**
 * A deterministic state that is used less often than this is not worthwhile: building and caching it takes longer than
 * following its set.
 */
const MIN_USES_PER_STATE = 25;
/**
 * The number of characters for which sets are followed after caching did not pay off. Then caching is tried again:
 * other texts may be better suited.
 */
const CHARACTERS_WITHOUT_CACHE = 100_000;
/** Building a deterministic state takes as long as visiting this many states for each of its members. */
const STEPS_PER_MADE_MEMBER = 4;
interface DeterministicState {
  /** Reached without consuming a character and before assertions, which depend on the next character. */
  readonly states: Int32Array;
  readonly before: Edge;
  readonly matched: boolean;
  readonly matchedAtEnd: boolean;
  readonly transitions: Map<number, DeterministicState>;
}

/** Terminal: once matched, always matched. */
const FOUND: DeterministicState = {
  states: new Int32Array(0),
  before: "none",
  matched: true,
  matchedAtEnd: true,
  transitions: new Map(),
};

export class Automaton {
  private readonly program: PatternProgram;
  private readonly hasAssertions: boolean;
  private cache = new Map<string, DeterministicState>();
  private cachedMembers = 0;
  private cachedSteps = 0;
  /** Characters that were matched with the cache since it was last dropped. */
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

  /** Matches the rest of a text without building states. */
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

  /** Advances the current set over a character. True when the pattern matched before it. */
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
    // A match may start at every character.
    this.enter(next, entry);
    work.spend(current.size + next.visited + classes.steps);
    room.current = next;
    room.next = current;
    return false;
  }

  /** Adds a state and the states reachable from it without consuming a character and before assertions. */
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

  /**
   * Adds the states reachable through assertions that hold between two characters. The set grows while it is iterated.
   */
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
    if (this.uses < this.cache.size * MIN_USES_PER_STATE || this.uses < this.cachedSteps * 2)
      this.charactersWithoutCache = CHARACTERS_WITHOUT_CACHE;
    for (const state of this.cache.values()) state.transitions.clear();
    this.cache = new Map();
    this.start = undefined;
    this.cachedMembers = 0;
    this.cachedSteps = 0;
    this.uses = 0;
  }
}
