/**
 * Random choices for generators. The same seed gives the same choices, so a finding is reproducible by its number
 * alone.
 */
import { createSeededRandom } from "@flotilla/base";

export class Chance {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = createSeededRandom(seed).next;
  }

  /** An integer from 0 up to, not including, `bound`. */
  below(bound: number): number {
    return Math.floor(this.#next() * bound);
  }

  /** True once in `times` draws. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError("nothing to pick from");
    return item;
  }

  /** Mostly small numbers, occasionally one up to the bound: sizes that reveal quadratic work. */
  size(bound: number): number {
    return Math.floor(bound ** this.#next());
  }

  list<T>(length: number, make: (index: number) => T): T[] {
    return Array.from({ length }, (_, index) => make(index));
  }
}

/** The seed of one input of a run: neighbouring inputs are unrelated. */
export function seedOf(run: number, input: number): number {
  let mixed = Math.imul(run ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(input + 1, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
