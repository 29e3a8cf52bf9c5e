/**
 * Matches `pattern` of a schema in time linear in the text, whoever wrote the pattern: JavaScript's RegExp backtracks, and a
 * CustomResourceDefinition with `(a+)+$` would stop the server. The expression becomes a nondeterministic automaton whose
 * reachable state sets are turned into deterministic states as texts need them.
 */
import { parsePattern, PatternError, type Assertion, type CharacterTest, type PatternNode } from "./pattern-parser.ts";

export interface Pattern {
  /** Whether the pattern is found anywhere in the text. */
  test(text: string): boolean;
}

/** Texts and patterns of real schemas are far below these; beyond them a pattern is refused when it is compiled. */
const MAX_PATTERN_LENGTH = 8192;
const MAX_STATES = 20_000;
/** Deterministic states, and steps between them, that one pattern keeps. When a hostile text makes more, all are dropped. */
const MAX_CACHED_STATES = 500;
const MAX_CACHED_STEPS = 10_000;

type State =
  | { kind: "character"; test: CharacterTest; next: number }
  | { kind: "split"; next: number; other: number }
  | { kind: "assertion"; assertion: Assertion; next: number }
  | { kind: "match" };

/** What is known of the character before: nothing (the beginning), a word's, a line's end, or another. */
export type Edge = "none" | "word" | "newline" | "other";

interface DeterministicState {
  /** Reached without a character and without regard to assertions, which depend on the next one. */
  readonly states: readonly number[];
  readonly before: Edge;
  readonly matched: boolean;
  readonly matchedAtEnd: boolean;
  readonly transitions: Map<number, DeterministicState>;
}

/** Once found, always found. */
const FOUND: DeterministicState = { states: [], before: "none", matched: true, matchedAtEnd: true, transitions: new Map() };

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
const MAX_COMPILED = 10_000;

/** Throws `PatternError` for what is no regular expression or one that is refused. */
export function compilePattern(pattern: string): Pattern {
  let found = compiled.get(pattern);
  if (!found) {
    if (pattern.length > MAX_PATTERN_LENGTH) throw new PatternError(pattern, "expression too large", `${pattern.slice(0, 64)}...`);
    found = new Automaton(pattern);
    if (compiled.size >= MAX_COMPILED) compiled.clear();
    compiled.set(pattern, found);
  }
  return found;
}

class Automaton implements Pattern {
  private readonly pattern: string;
  private readonly states: State[] = [{ kind: "match" }];
  private readonly entry: number;
  private cache = new Map<string, DeterministicState>();
  private cachedSteps = 0;
  private hasAssertions = false;
  private start: DeterministicState | undefined;

  constructor(pattern: string) {
    this.pattern = pattern;
    this.entry = this.build(parsePattern(pattern), 0);
  }

  test(text: string): boolean {
    let current = (this.start ??= this.deterministic(this.closure([this.entry]), "none"));
    for (let index = 0; index < text.length; index++) {
      if (current.matched) return true;
      const code = text.codePointAt(index) ?? 0;
      if (code > 0xffff) index += 1;
      current = this.step(current, code);
    }
    return current.matched || current.matchedAtEnd;
  }

  private step(current: DeterministicState, code: number): DeterministicState {
    let next = current.transitions.get(code);
    if (!next) {
      next = this.reach(current, code);
      if (++this.cachedSteps > MAX_CACHED_STEPS) this.forget();
      else current.transitions.set(code, next);
    }
    return next;
  }

  private reach({ states, before }: DeterministicState, code: number): DeterministicState {
    const after = edgeOf(code);
    const open = this.hasAssertions ? this.closure(states, before, after) : states;
    const reached: number[] = [];
    for (const id of open) {
      const state = this.states[id] as State;
      if (state.kind === "match") return FOUND;
      if (state.kind === "character" && state.test(code)) reached.push(state.next);
    }
    // A match may begin at every character.
    reached.push(this.entry);
    return this.deterministic(this.closure(reached), this.hasAssertions ? after : "other");
  }

  private deterministic(set: ReadonlySet<number>, before: Edge): DeterministicState {
    const states = [...set].sort((a, b) => a - b);
    const key = `${before} ${states.join()}`;
    let found = this.cache.get(key);
    if (!found) {
      if (this.cache.size >= MAX_CACHED_STATES) this.forget();
      found = { states, before, matched: set.has(0), matchedAtEnd: this.closure(states, before, "none").has(0), transitions: new Map() };
      this.cache.set(key, found);
    }
    return found;
  }

  private forget(): void {
    for (const state of this.cache.values()) state.transitions.clear();
    this.cache = new Map();
    this.start = undefined;
    this.cachedSteps = 0;
  }

  /** The states that are reached without a character; through assertions only when it is known what they stand between. */
  private closure(from: readonly number[], before?: Edge, after?: Edge): Set<number> {
    const reached = new Set<number>();
    const open = [...from];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (reached.has(id)) continue;
      reached.add(id);
      const state = this.states[id] as State;
      if (state.kind === "split") open.push(state.next, state.other);
      else if (state.kind === "assertion" && before !== undefined && after !== undefined && holds(state.assertion, before, after)) open.push(state.next);
    }
    return reached;
  }

  private add(state: State): number {
    if (this.states.length >= MAX_STATES) throw new PatternError(this.pattern, "expression too large", this.pattern.slice(0, 64));
    return this.states.push(state) - 1;
  }

  /** Builds the states for a node that continue with `next`, and answers where to enter. */
  private build(node: PatternNode, next: number): number {
    switch (node.kind) {
      case "character":
        return this.add({ kind: "character", test: node.test, next });
      case "assertion":
        this.hasAssertions = true;
        return this.add({ kind: "assertion", assertion: node.assertion, next });
      case "sequence":
        return node.parts.reduceRight((following, part) => this.build(part, following), next);
      case "choice":
        return node.options.map((option) => this.build(option, next)).reduceRight((other, entry) => this.add({ kind: "split", next: entry, other }));
      case "repeat":
        return this.buildRepeat(node, next);
      default:
        return next;
    }
  }

  private buildRepeat({ part, min, max }: { part: PatternNode; min: number; max: number }, next: number): number {
    let entry = next;
    if (max === Infinity) {
      entry = this.add({ kind: "split", next, other: next });
      this.states[entry] = { kind: "split", next: this.build(part, entry), other: next };
    } else {
      for (let count = min; count < max; count++) entry = this.add({ kind: "split", next: this.build(part, entry), other: next });
    }
    for (let count = 0; count < min; count++) entry = this.build(part, entry);
    return entry;
  }
}
