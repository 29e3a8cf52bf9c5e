/**
 * A pattern as a nondeterministic automaton, stored in arrays of numbers: state `id` has the kind `kinds[id]`,
 * continues with `next[id]`, and has in `other[id]` its second branch, its character class or its assertion. Of two
 * branches the first is preferred, which matters only for where a match ends.
 */
import type { CharacterTest } from "./characters.ts";
import { parsePattern } from "./parser.ts";
import { matchesEmpty } from "./size.ts";
import type { Assertion, PatternNode } from "./syntax.ts";

export const MATCH = 0;
export const CHARACTER = 1;
export const SPLIT = 2;
export const ASSERTION = 3;

/** Testing a character against a class takes as long as visiting this many states, for each of its ranges. */
const STEPS_PER_TEST = 4;

/**
 * The character classes of a pattern. Each is tested once per character, regardless of the number of states that wait
 * for it.
 */
class CharacterClasses {
  private readonly tests: CharacterTest[] = [];
  private readonly weights: number[] = [];
  private readonly ids = new Map<CharacterTest, number>();
  private readonly askedAt: number[] = [];
  private readonly verdicts: boolean[] = [];
  private round = 0;
  private code = 0;
  /** Steps taken by the tests for this character. */
  steps = 0;

  idOf(test: CharacterTest, weight: number): number {
    let id = this.ids.get(test);
    if (id === undefined) {
      id = this.tests.push(test) - 1;
      this.ids.set(test, id);
      this.weights.push(weight * STEPS_PER_TEST);
      this.askedAt.push(0);
      this.verdicts.push(false);
    }
    return id;
  }

  /** Sets the character for the following tests. */
  look(code: number): void {
    this.code = code;
    this.round += 1;
    this.steps = 0;
  }

  has(id: number): boolean {
    if (this.askedAt[id] !== this.round) {
      this.askedAt[id] = this.round;
      this.steps += this.weights[id] as number;
      this.verdicts[id] = (this.tests[id] as CharacterTest)(this.code);
    }
    return this.verdicts[id] as boolean;
  }
}

export class PatternProgram {
  readonly kinds: number[] = [MATCH];
  readonly next: number[] = [0];
  readonly other: number[] = [0];
  readonly classes = new CharacterClasses();
  /** By their index in `other`. */
  readonly assertions: Assertion[] = [];
  readonly entry: number;

  constructor(pattern: string) {
    this.entry = this.build(parsePattern(pattern), 0);
  }

  get size(): number {
    return this.kinds.length;
  }

  private add(kind: number, next: number, other: number): number {
    this.next.push(next);
    this.other.push(other);
    return this.kinds.push(kind) - 1;
  }

  /** Builds the states for a node that continue with `next`, and returns the entry state. */
  private build(node: PatternNode, next: number): number {
    switch (node.kind) {
      case "character":
        return this.add(CHARACTER, next, this.classes.idOf(node.test, node.weight));
      case "assertion":
        return this.add(ASSERTION, next, this.assertions.push(node.assertion) - 1);
      case "sequence":
        return node.parts.reduceRight((following, part) => this.build(part, following), next);
      case "choice":
        return node.options
          .map((option) => this.build(option, next))
          .reduceRight((other, entry) => this.add(SPLIT, entry, other));
      case "repeat":
        return this.buildRepeat(node, next);
      default:
        return next;
    }
  }

  private buildRepeat({ part, min, max, isLazy }: PatternNode & { kind: "repeat" }, next: number): number {
    let entry = next;
    let copies = min;
    if (max === Infinity) {
      const loop = this.branch(next, next, isLazy);
      const body = this.build(part, loop);
      (isLazy ? this.other : this.next)[loop] = body;
      // As in Go, a body that matched nothing ends the loop, which needs a second branch at its beginning.
      if (min > 0) entry = body;
      else entry = matchesEmpty(part) ? this.branch(body, next, isLazy) : loop;
      copies = Math.max(min - 1, 0);
    } else {
      for (let count = min; count < max; count++) entry = this.branch(this.build(part, entry), next, isLazy);
    }
    for (let count = 0; count < copies; count++) entry = this.build(part, entry);
    return entry;
  }

  private branch(body: number, exit: number, isLazy: boolean): number {
    return isLazy ? this.add(SPLIT, exit, body) : this.add(SPLIT, body, exit);
  }
}
