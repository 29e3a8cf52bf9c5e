/** A pool of numbers, each held by at most one object of a cluster: cluster IPs and node ports. */
import type { Random } from "@flotilla/base";

export interface PoolRange {
  readonly first: number;
  readonly last: number;
  /**
   * This many numbers at the start of the range are allocated only on explicit request until the rest is used up:
   * people choose low numbers.
   */
  readonly kept: number;
  /** Never allocated. */
  readonly reserved?: number;
}

const isIn = ({ first, last }: PoolRange, number: number): boolean => number >= first && number <= last;

export class NumberPool {
  readonly #range: PoolRange;
  #added: readonly PoolRange[] = [];
  /** Numbers held by stored objects, with the object's key. */
  readonly #holders = new Map<number, string>();
  /** Numbers promised to objects whose writes are in flight. */
  readonly #pending = new Map<number, string>();

  constructor(range: PoolRange) {
    this.#range = range;
  }

  /** Sets the additional ranges, which may overlap, replacing those set before. */
  extend(ranges: readonly PoolRange[]): void {
    this.#added = ranges;
  }

  includes(number: number): boolean {
    return isIn(this.#range, number) || this.#added.some((range) => isIn(range, number));
  }

  isFree(number: number): boolean {
    return (
      this.includes(number) &&
      number !== this.#range.reserved &&
      !this.#holders.has(number) &&
      !this.#pending.has(number)
    );
  }

  holderOf(number: number): string | undefined {
    return this.#holders.get(number);
  }

  /** The object whose write is in flight. */
  promisedTo(number: number): string | undefined {
    return this.#pending.get(number);
  }

  /**
   * Any free number for which `isGood` returns true; undefined when there is none. Usually the first candidate is free.
   */
  pick(random: Random, isGood: (number: number) => boolean): number | undefined {
    for (const { first, last, kept } of [this.#range, ...this.#added]) {
      const number =
        this.#pickIn(first + kept, last, random, isGood) ?? this.#pickIn(first, first + kept - 1, random, isGood);
      if (number !== undefined) return number;
    }
    return undefined;
  }

  #pickIn(first: number, last: number, random: Random, isGood: (number: number) => boolean): number | undefined {
    const size = last - first + 1;
    const start = Math.floor(random.next() * size);
    for (let step = 0; step < size; step++) {
      const number = first + ((start + step) % size);
      if (this.isFree(number) && isGood(number)) return number;
    }
    return undefined;
  }

  /** Takes a number for an object that is about to be stored. */
  promise(number: number, key: string): void {
    this.#pending.set(number, key);
  }

  withdraw(number: number, key: string): void {
    if (this.#pending.get(number) === key) this.#pending.delete(number);
  }

  /** Takes a number for a stored object. */
  hold(number: number, key: string): void {
    this.withdraw(number, key);
    this.#holders.set(number, key);
  }

  release(number: number, key: string): void {
    if (this.#holders.get(number) === key) this.#holders.delete(number);
  }
}
