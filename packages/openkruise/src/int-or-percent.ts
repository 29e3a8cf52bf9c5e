/**
 * Integers or percentages of a total. OpenKruise parses them in three variants, and a workload that bypassed its
 * webhook years ago must keep its meaning, so all three are implemented:
 *
 * | reading | fractions of a percent | a text without `%` | used for |
 * |---|---|---|---|
 * | `fractionalShare` | yes | cannot be read | partition of CloneSet and SidecarSet |
 * | `legacyShare` | no | is a percentage too | maxSurge and maxUnavailable of CloneSet, Advanced StatefulSet, SidecarSet; parallelism of BroadcastJob |
 * | `strictShare` | no | cannot be read | Advanced DaemonSet, PodUnavailableBudget |
 *
 * Each returns undefined for invalid values; the consequences differ between kinds.
 */
export type IntOrPercent = number | string;
export type Rounding = "up" | "down";

const scale = (percent: number, total: number, rounding: Rounding): number => {
  // Multiplied before it is divided, as upstream does: 0.07 · 100 is not 7 in floating point.
  const exact = (percent * total) / 100;
  // Adding 0 turns a negative zero into an ordinary one.
  return (rounding === "up" ? Math.ceil(exact) : Math.floor(exact)) + 0;
};

/** As permissive as upstream, which accepts exponents and digit separators; a number that is not finite counts as 0. */
export function fractionalShare(value: IntOrPercent, total: number, rounding: Rounding): number | undefined {
  if (typeof value === "number") return value;
  if (!value.endsWith("%")) return undefined;
  const number = value.slice(0, -1);
  if (/^[+-]?(?:inf|infinity)$|^nan$/i.test(number)) return 0;
  // Unambiguous for each digit, so that a long text takes linear time.
  if (!/^[+-]?(?:\d(?:_?\d)*(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(number)) return undefined;
  return scale(Number(number.replaceAll("_", "")), total, rounding);
}

export function legacyShare(value: IntOrPercent, total: number, rounding: Rounding): number | undefined {
  if (typeof value === "number") return value;
  const match = /^([+-]?\d+)%?$/.exec(value);
  return match ? scale(Number(match[1]), total, rounding) : undefined;
}

export function strictShare(value: IntOrPercent, total: number, rounding: Rounding): number | undefined {
  return typeof value === "string" && !value.endsWith("%") ? undefined : legacyShare(value, total, rounding);
}

/**
 * How many pods keep the old revision. A percentage rounds up, but anything except exactly "100%" lets at least one pod
 * update, so that a nearly complete partition never looks like a stopped rollout. Undefined for text that is not a
 * percentage.
 */
export function partitionOf(partition: IntOrPercent | undefined, replicas: number): number | undefined {
  if (partition === undefined) return 0;
  const kept = fractionalShare(partition, replicas, "up");
  if (kept === undefined) return undefined;
  const isNearly = typeof partition === "string" && partition !== "100%" && replicas > 1 && kept === replicas;
  return Math.max(0, Math.min(isNearly ? replicas - 1 : kept, replicas));
}
