/**
 * Matches `pattern` of a schema in time linear in the text, whoever wrote the pattern: JavaScript's RegExp backtracks, and a
 * CustomResourceDefinition with `(a+)+$` would stop the server. The expression becomes a nondeterministic automaton whose
 * reachable state sets are turned into deterministic states as texts need them.
 */
import { parsePattern, PatternError, type CharacterTest, type PatternNode } from "./pattern-parser.ts";

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
  | { kind: "start" | "end"; next: number }
  | { kind: "match" };

interface DeterministicState {
  readonly states: readonly number[];
  readonly matched: boolean;
  readonly matchedAtEnd: boolean;
  readonly transitions: Map<number, DeterministicState>;
}

const compiled = new Map<string, Pattern>();
const MAX_COMPILED = 10_000;

/** Throws `PatternError` for what is no regular expression or one that is refused. */
export function compilePattern(pattern: string): Pattern {
  let found = compiled.get(pattern);
  if (!found) {
    if (pattern.length > MAX_PATTERN_LENGTH) throw new PatternError(pattern, `it is longer than ${MAX_PATTERN_LENGTH} characters`);
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
  private start: DeterministicState | undefined;

  constructor(pattern: string) {
    this.pattern = pattern;
    this.entry = this.build(parsePattern(pattern), 0);
  }

  test(text: string): boolean {
    let current = (this.start ??= this.deterministic(this.closure([this.entry], "start")));
    for (let index = 0; index < text.length; index++) {
      if (current.matched) return true;
      const code = text.codePointAt(index) ?? 0;
      if (code > 0xffff) index += 1;
      current = this.step(current, code);
    }
    return current.matched || (text === "" ? this.closure([this.entry], "start", "end").has(0) : current.matchedAtEnd);
  }

  private step(current: DeterministicState, code: number): DeterministicState {
    let next = current.transitions.get(code);
    if (!next) {
      const reached: number[] = [];
      for (const id of current.states) {
        const state = this.states[id] as State;
        if (state.kind === "character" && state.test(code)) reached.push(state.next);
      }
      // A match may begin at every character.
      reached.push(this.entry);
      next = this.deterministic(this.closure(reached));
      if (++this.cachedSteps > MAX_CACHED_STEPS) this.forget();
      else current.transitions.set(code, next);
    }
    return next;
  }

  private deterministic(set: ReadonlySet<number>): DeterministicState {
    const states = [...set].sort((a, b) => a - b);
    const key = states.join();
    let found = this.cache.get(key);
    if (!found) {
      if (this.cache.size >= MAX_CACHED_STATES) this.forget();
      found = { states, matched: set.has(0), matchedAtEnd: this.closure(states, "end").has(0), transitions: new Map() };
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

  /** The states that are reached without a character, through the assertions that hold here. */
  private closure(from: readonly number[], ...holding: ("start" | "end")[]): Set<number> {
    const reached = new Set<number>();
    const open = [...from];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (reached.has(id)) continue;
      reached.add(id);
      const state = this.states[id] as State;
      if (state.kind === "split") open.push(state.next, state.other);
      else if ((state.kind === "start" || state.kind === "end") && holding.includes(state.kind)) open.push(state.next);
    }
    return reached;
  }

  private add(state: State): number {
    if (this.states.length >= MAX_STATES) throw new PatternError(this.pattern, "its repeats make it too large");
    return this.states.push(state) - 1;
  }

  /** Builds the states for a node that continue with `next`, and answers where to enter. */
  private build(node: PatternNode, next: number): number {
    switch (node.kind) {
      case "character":
        return this.add({ kind: "character", test: node.test, next });
      case "start":
      case "end":
        return this.add({ kind: node.kind, next });
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
