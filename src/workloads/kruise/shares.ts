/**
 * Numbers that users give as an integer or as a percentage of a total. OpenKruise reads them in three ways, and a
 * workload that came past its webhook years ago must keep its meaning, so all three are kept:
 *
 * | reading | fractions of a percent | a text without `%` | used for |
 * |---|---|---|---|
 * | `fractionalShare` | yes | cannot be read | partition of CloneSet and SidecarSet |
 * | `legacyShare` | no | is a percentage too | maxSurge and maxUnavailable of CloneSet, Advanced StatefulSet, SidecarSet; parallelism of BroadcastJob |
 * | `strictShare` | no | cannot be read | Advanced DaemonSet, PodUnavailableBudget |
 *
 * Each answers undefined for what it cannot read; what follows from that differs from kind to kind.
 */
export type IntOrPercent = number | string;
export type Rounding = "up" | "down";

const scale = (percent: number, total: number, rounding: Rounding): number => {
  // Multiplied before it is divided, as upstream does: 0.07 · 100 is not 7 in floating point.
  const exact = (percent * total) / 100;
  // Adding 0 makes an ordinary zero of a negative one.
  return (rounding === "up" ? Math.ceil(exact) : Math.floor(exact)) + 0;
};

/** As liberal as upstream, which takes exponents and digit separators; what is no finite number counts as 0. */
export function fractionalShare(value: IntOrPercent, total: number, rounding: Rounding): number | undefined {
  if (typeof value === "number") return value;
  if (!value.endsWith("%")) return undefined;
  const number = value.slice(0, -1);
  if (/^[+-]?(?:inf|infinity)$|^nan$/i.test(number)) return 0;
  // A digit can be matched in one way only, so that a long text takes no longer than it is.
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
 * How many pods stay at the old revision. A percentage rounds up, yet anything but exactly "100%" lets at least one pod
 * update, so that a nearly finished partition never looks like a stopped rollout. Undefined for text that is no
 * percentage.
 */
export function partitionOf(partition: IntOrPercent | undefined, replicas: number): number | undefined {
  if (partition === undefined) return 0;
  const kept = fractionalShare(partition, replicas, "up");
  if (kept === undefined) return undefined;
  const isNearly = typeof partition === "string" && partition !== "100%" && replicas > 1 && kept === replicas;
  return Math.max(0, Math.min(isNearly ? replicas - 1 : kept, replicas));
}
