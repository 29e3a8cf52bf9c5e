/** Ranges of sizes and costs, from minimum to maximum. They stay below 2^64, as upstream's do. */

export const MAX = 2 ** 64;

export interface Range {
  readonly min: number;
  readonly max: number;
}

export const range = (min: number, max: number): Range => ({ min, max });
export const exactly = (value: number): Range => ({ min: value, max: value });
export const NOTHING = exactly(0);
export const UNKNOWN: Range = { min: 0, max: MAX };

const bounded = (value: number): number => Math.min(value, MAX);

export const plus = (a: Range, b: Range): Range => ({ min: bounded(a.min + b.min), max: bounded(a.max + b.max) });
export const times = (a: Range, b: Range): Range => ({ min: bounded(a.min * b.min), max: bounded(a.max * b.max) });
/** Multiplied by a factor, rounded up. */
export const scaled = (a: Range, factor: number): Range => ({
  min: bounded(Math.ceil(a.min * factor)),
  max: bounded(Math.ceil(a.max * factor)),
});
export const union = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });
export const total = (ranges: readonly Range[]): Range => ranges.reduce(plus, NOTHING);
