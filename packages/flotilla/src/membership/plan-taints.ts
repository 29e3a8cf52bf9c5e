/** Computes a Cluster's taints: those that follow its conditions, and those of ClusterTaintPolicies. Pure. */
import { findCondition } from "@flotilla/apimachinery";
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { CLUSTER_NOT_READY_TAINT, CLUSTER_UNREACHABLE_TAINT } from "@flotilla/karmada";
type Taint = NonNullable<Cluster["spec"]["taints"]>[number];
type Taints = readonly DeepReadonly<Taint>[];
type Conditions = readonly { readonly type: string; readonly status: string }[];

const forScheduling = (key: string): Taint => ({ key, effect: "NoSchedule" });
const isSame = (a: DeepReadonly<Taint>, b: Pick<Taint, "key" | "effect">): boolean =>
  a.key === b.key && a.effect === b.effect;

/**
 * A member that is not ready gets no new workloads; running ones stay. A member without conditions counts as not ready.
 * Undefined when nothing changes.
 */
export function planConditionTaints({ spec, status }: DeepReadonly<Cluster>): Taints | undefined {
  const ready = findCondition(status?.conditions ?? [], "Ready")?.status;
  const wanted =
    ready === "True" ? undefined : ready === "Unknown" ? CLUSTER_UNREACHABLE_TAINT : CLUSTER_NOT_READY_TAINT;
  const taints = spec.taints ?? [];
  const unwanted = [CLUSTER_NOT_READY_TAINT, CLUSTER_UNREACHABLE_TAINT]
    .filter((key) => key !== wanted)
    .map(forScheduling);
  const kept = taints.filter((taint) => !unwanted.some((other) => isSame(taint, other)));
  const isMissing = wanted !== undefined && !kept.some((taint) => isSame(taint, forScheduling(wanted)));
  if (kept.length === taints.length && !isMissing) return undefined;
  return isMissing ? [...kept, forScheduling(wanted)] : kept;
}

/** Whether the hub adds and removes the taint with the condition Ready of the Cluster. */
export const isOfCondition = ({ key, effect }: Pick<DeepReadonly<Taint>, "key" | "effect">): boolean =>
  effect === "NoSchedule" && (key === CLUSTER_NOT_READY_TAINT || key === CLUSTER_UNREACHABLE_TAINT);

/** The taints and conditions of a ClusterTaintPolicy. */
export interface TaintRule<Affinity = unknown> {
  /** Unset: every cluster. */
  targetClusters?: Affinity | undefined;
  addOnConditions?: readonly MatchCondition[] | undefined;
  removeOnConditions?: readonly MatchCondition[] | undefined;
  taints: readonly { readonly key: string; readonly value?: string | undefined; readonly effect: string }[];
}

interface MatchCondition {
  readonly conditionType: string;
  readonly operator: string;
  readonly statusValues: readonly string[];
}

/**
 * The taints after all rules, in their order, so the last one decides where they contradict each other; undefined when
 * nothing changes. The taints that follow the condition Ready are the hub's own, and no rule adds or removes them.
 * `matches` returns whether a rule applies to this cluster.
 */
export function planPolicyTaints<Affinity>(
  { spec, status }: DeepReadonly<Cluster>,
  rules: readonly TaintRule<Affinity>[],
  matches: (affinity: Affinity) => boolean,
  now: string,
): Taints | undefined {
  const before: Taints = spec.taints ?? [];
  let taints = before;
  const conditions = status?.conditions ?? [];
  for (const rule of rules) {
    if (rule.targetClusters !== undefined && !matches(rule.targetClusters)) continue;
    const own = (rule.taints as readonly Taint[]).filter((taint) => !isOfCondition(taint));
    if (allHold(conditions, rule.addOnConditions)) {
      const missing = own.filter(
        (taint, index) =>
          !taints.some((other) => isSame(other, taint)) && own.findIndex((other) => isSame(other, taint)) === index,
      );
      if (missing.length > 0)
        taints = [
          ...taints,
          ...missing.map(({ key, value, effect }) => ({ key, value: value || undefined, effect, timeAdded: now })),
        ];
    }
    if (allHold(conditions, rule.removeOnConditions)) {
      const left = taints.filter((taint) => !own.some((other) => isSame(taint, other)));
      if (left.length < taints.length) taints = left;
    }
  }
  // Policies that contradict each other must not renew what the last of them wants, over and over.
  const next = taints.map((taint) => before.find((known) => isSame(known, taint)) ?? taint);
  return next.length === before.length && next.every((taint) => before.includes(taint)) ? undefined : next;
}

/**
 * An empty condition list never matches, and neither does a condition type that the cluster lacks, not even with NotIn.
 */
function allHold(conditions: Conditions, wanted: readonly MatchCondition[] = []): boolean {
  if (wanted.length === 0) return false;
  return wanted.every(({ conditionType, operator, statusValues }) => {
    const condition = findCondition(conditions, conditionType);
    if (!condition || (operator !== "In" && operator !== "NotIn")) return false;
    return statusValues.includes(condition.status) === (operator === "In");
  });
}

/** For events, in Karmada's format. */
export function describeTaints(taints: Taints): string {
  return taints.length === 0
    ? "cluster now does not have taints"
    : `cluster now has taints([${taints.map(({ key, value, effect }) => `{Key:${key},${value ? `Value:${value},` : ""}Effect:${effect}}`).join(",")}])`;
}
