/**
 * Taints of member clusters and tolerations of placements: which taint excludes a workload, and for how long it may
 * stay.
 */
import type { Taint as ApiTaint, Toleration as ApiToleration } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";

export type Taint = DeepReadonly<ApiTaint>;
export type Toleration = DeepReadonly<ApiToleration>;

/** Effects that exclude a cluster; `PreferNoSchedule` is only a preference. */
const PREVENTS_PLACEMENT: ReadonlySet<string> = new Set(["NoSchedule", "NoExecute"]);

export function toleratesTaint(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  // An omitted or empty operator means Equal.
  const operator = toleration.operator || "Equal";
  if (operator === "Exists") return true;
  return operator === "Equal" && (toleration.value ?? "") === (taint.value ?? "");
}

/**
 * The first taint that excludes the workload, if any. An expired toleration no longer counts: otherwise a workload that
 * failover just moved away would return, and be moved again.
 */
export function findUntoleratedTaint(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  nowMs = 0,
): Taint | undefined {
  return taints.find(
    (taint) =>
      PREVENTS_PLACEMENT.has(taint.effect) &&
      !tolerations.some((toleration) => toleratesTaint(toleration, taint) && !isOver(toleration, taint, nowMs)),
  );
}

function isOver({ tolerationSeconds }: Toleration, { effect, timeAdded }: Taint, nowMs: number): boolean {
  return (
    effect === "NoExecute" &&
    tolerationSeconds !== undefined &&
    timeAdded !== undefined &&
    Date.parse(timeAdded) + tolerationSeconds * 1000 <= nowMs
  );
}

/** `key=value:effect`, the usual notation of taints. */
export function formatTaint({ key, value, effect }: Taint): string {
  const pair = value ? `${key}=${value}` : key;
  return effect ? `${pair}:${effect}` : pair;
}

export function noExecuteTaints<T extends Taint>(taints: readonly T[]): T[] {
  return taints.filter(({ effect }) => effect === "NoExecute");
}

/** The first matching toleration of every taint; undefined when a taint is not tolerated. */
export function matchingTolerations<T extends Toleration>(
  taints: readonly Taint[],
  tolerations: readonly T[],
): T[] | undefined {
  const used: T[] = [];
  for (const taint of taints) {
    const toleration = tolerations.find((candidate) => toleratesTaint(candidate, taint));
    if (!toleration) return undefined;
    used.push(toleration);
  }
  return used;
}

/**
 * How long a workload may stay on a cluster with these NoExecute taints: Infinity when no toleration is limited, 0 when
 * the time has expired.
 */
export function minTolerationMs(taints: readonly Taint[], tolerations: readonly Toleration[], nowMs: number): number {
  if (taints.length === 0) return Infinity;
  if (tolerations.length === 0) return 0;
  let shortest = Infinity;
  for (const toleration of tolerations) {
    const { tolerationSeconds } = toleration;
    if (tolerationSeconds === undefined) continue;
    for (const taint of taints) {
      if (!taint.timeAdded || !toleratesTaint(toleration, taint)) continue;
      shortest = Math.min(shortest, Date.parse(taint.timeAdded) + tolerationSeconds * 1000 - nowMs);
    }
  }
  return Math.max(0, shortest);
}
