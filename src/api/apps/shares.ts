/** Numbers that may be percentages, as the rules of rollouts compare them. */

/**
 * The number itself, or the number before the percent sign. A text that is no percentage counts as its number, or as
 * nothing.
 */
export function shareOf(value: number | string): number {
  if (typeof value === "number") return value;
  const digits = /^([0-9]+)%?$/.exec(value)?.[1];
  return digits === undefined ? 0 : Number(digits);
}
