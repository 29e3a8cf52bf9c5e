/** Compares numbers that may be percentages, for rollout rules. */

/**
 * Returns the number itself, or the number before the percent sign. Text that is not a percentage counts as its number,
 * or as zero.
 */
export function intOrPercentValue(value: number | string): number {
  if (typeof value === "number") return value;
  const digits = /^([0-9]+)%?$/.exec(value)?.[1];
  return digits === undefined ? 0 : Number(digits);
}
