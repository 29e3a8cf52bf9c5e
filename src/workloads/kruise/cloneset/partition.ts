/**
 * Numbers that users give as an integer or a percentage, as CloneSet reads them.
 *
 * OpenKruise reads `partition` by one rule and the budgets by an older one; a CloneSet that came past the webhook years ago
 * must keep its meaning, so both rules are kept.
 */
export type IntOrPercent = number | string;

/**
 * How many pods stay at the old revision. A percentage rounds up, yet anything but exactly "100%" lets at least one pod
 * update, so that a nearly finished partition never looks like a stopped rollout. Undefined for text that is no percentage.
 */
export function partitionOf(partition: IntOrPercent | undefined, replicas: number): number | undefined {
  if (partition === undefined) return 0;
  if (typeof partition === "number") return clamp(partition, replicas);
  const percent = percentOf(partition);
  if (percent === undefined) return undefined;
  // Multiplied before it is divided, as upstream does: 0.07 · 100 is not 7 in floating point.
  const kept = Math.ceil((percent * replicas) / 100);
  return clamp(replicas > 1 && kept === replicas && partition !== "100%" ? replicas - 1 : kept, replicas);
}

const clamp = (value: number, replicas: number): number => Math.max(0, Math.min(value, replicas));

/** As liberal as upstream, which takes exponents and digit separators; what is no finite number counts as 0. */
function percentOf(text: string): number | undefined {
  if (!text.endsWith("%")) return undefined;
  const number = text.slice(0, -1);
  if (/^[+-]?(?:inf|infinity)$|^nan$/i.test(number)) return 0;
  if (!/^[+-]?(?:\d(?:_?\d)*\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(number)) return undefined;
  return Number(number.replaceAll("_", ""));
}

/** `maxSurge` and both `maxUnavailable`: whole percents, the sign may be missing, and what cannot be read is 0. */
export function budgetOf(value: IntOrPercent | undefined, replicas: number, round: "up" | "down"): number {
  if (value === undefined) return 0;
  if (typeof value === "number") return value;
  const match = /^([+-]?\d+)%?$/.exec(value);
  if (!match) return 0;
  const exact = (Number(match[1]) * replicas) / 100;
  return round === "up" ? Math.ceil(exact) : Math.floor(exact);
}
