/**
 * Regular expressions that match in time linear in the text, because patterns are untrusted: JavaScript's RegExp
 * backtracks, and a CustomResourceDefinition with `(a+)+$` would block the server. All work is counted
 * (`PatternWork`); a method throws `PatternWorkError` when it takes more steps than are left.
 */
import { Automaton } from "./automaton.ts";
import { parsePattern } from "./parser.ts";
import { PatternProgram } from "./program.ts";
import { findMatch, findMatches, type Found } from "./search.ts";
import { sizeOf } from "./size.ts";
import { PatternWork } from "./pattern-work.ts";

export interface Pattern {
  /** Reports whether the pattern matches anywhere in the text. */
  test(text: string, work?: PatternWork): boolean;
  /** The leftmost match at or after a position, and of those the one that the pattern prefers. */
  find(text: string, from?: number, work?: PatternWork): Found | undefined;
  /** All non-overlapping matches, at most `limit` unless that is negative. */
  findAll(text: string, limit?: number, work?: PatternWork): Generator<string>;
}

/** Building a state takes as long as visiting this many. The first use of a pattern pays for it. */
export const STEPS_PER_BUILT_STATE = 12;

const compiled = new Map<string, Pattern>();
let compiledStates = 0;
const MAX_COMPILED = 10_000;
const MAX_COMPILED_STATES = 500_000;

/**
 * Throws `PatternError` for an invalid or rejected expression. The automaton is built on first use: a schema may hold
 * thousands of patterns that expand to thousands of states each.
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

class LazyPattern implements Pattern {
  private readonly pattern: string;
  private readonly size: number;
  private built: { program: PatternProgram; automaton: Automaton } | undefined;

  constructor(pattern: string, size: number) {
    this.pattern = pattern;
    this.size = size;
  }

  test(text: string, work = new PatternWork()): boolean {
    return this.build(work).automaton.test(text, work);
  }

  find(text: string, from = 0, work = new PatternWork()): Found | undefined {
    return findMatch(this.build(work).program, text, from, work);
  }

  findAll(text: string, limit = -1, work = new PatternWork()): Generator<string> {
    return findMatches(this.build(work).program, text, limit, work);
  }

  private build(work: PatternWork): { program: PatternProgram; automaton: Automaton } {
    if (!this.built) {
      work.spend(this.size * STEPS_PER_BUILT_STATE);
      const program = new PatternProgram(this.pattern);
      this.built = { program, automaton: new Automaton(program) };
    }
    return this.built;
  }
}
