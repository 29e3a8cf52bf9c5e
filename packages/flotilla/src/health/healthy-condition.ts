/**
 * The condition `Healthy`: of a Work, whether its objects run on the member as they should; of a binding, whether they
 * do on all members. `False` and `Unknown` have the reason. Pure.
 *
 * `lastTransitionTime` is the time since which nothing has improved: it starts again whenever more pods are ready or
 * updated than before. A slow rollout is therefore never taken for one that is stuck.
 */
import { findCondition, withCondition } from "@flotilla/apimachinery";
import type { Condition } from "@flotilla/apimachinery";
import { FAILED, LAST_RUN_FAILED, QUOTA_FORBIDS } from "./why-unhealthy.ts";
import type { Unhealthy } from "@flotilla/kubernetes";

export const HEALTHY = "Healthy";
/** Pods need a moment to start. A workload that has been unhealthy for longer than this is a problem. */
const HEALTH_GRACE_MS = 60_000;
/** Reasons of `Unknown`: the rule that failed for the member's object. */
export const RULE_FAILURES: ReadonlySet<string> = new Set(["ReflectStatusFailed", "InterpretHealthFailed"]);
/** What waiting does not mend: a rule that failed, a run that failed, pods that a quota forbids. */
const AT_ONCE: ReadonlySet<string> = new Set([...RULE_FAILURES, FAILED, LAST_RUN_FAILED, QUOTA_FORBIDS]);
/** In the message of a binding; the Works have the others. */
const MAX_NAMED = 3;

/** `Unknown` when a rule failed, so that the health could not be determined. */
export type Verdict = (Unhealthy & { status: "False" | "Unknown" }) | undefined;

export interface WorkHealth {
  verdict: Verdict;
  /** The rules of all its kinds say `Healthy`. */
  isByRule: boolean;
  /** More pods are ready or updated than before. */
  isProgress: boolean;
}

/** A Work gets the condition when something is wrong for the first time, or when its kind's rule says so. */
export function withWorkHealth<C extends Condition>(
  conditions: readonly C[],
  { verdict, isByRule, isProgress }: WorkHealth,
  now: string,
): readonly C[] {
  const before = findCondition(conditions, HEALTHY);
  if (!verdict && !before && isByRule) return conditions;
  const next = withCondition(conditions, { type: HEALTHY, ...(verdict ?? ALL_HEALTHY) }, now);
  const isRestarted = isProgress && before?.status === verdict?.status;
  return isRestarted ? since(next, now) : next;
}

export interface MemberVerdict {
  cluster: string;
  status: "False" | "Unknown";
  reason: string;
  message: string;
  /** When the member's copy last improved; unset when the member's agent does not report it. */
  since?: string | undefined;
}

/** Unhealthy since the first of its members is. `known`: what members report where nothing is wrong. */
export function withBindingHealth<C extends Condition>(
  conditions: readonly C[],
  verdicts: readonly MemberVerdict[],
  known: keyof typeof WITHOUT_FINDINGS,
  now: string,
): readonly C[] {
  const [first] = verdicts.toSorted((a, b) => rankOf(a) - rankOf(b));
  if (!first) return withCondition(conditions, { type: HEALTHY, ...WITHOUT_FINDINGS[known] }, now);
  const { status, reason } = first;
  const same = verdicts.filter((verdict) => verdict.status === status);
  const named = same.slice(0, MAX_NAMED).map(({ cluster, message }) => `${cluster}: ${message}`);
  const rest = same.length > MAX_NAMED ? [`and ${same.length - MAX_NAMED} more`] : [];
  const next = withCondition(
    conditions,
    { type: HEALTHY, status, reason, message: [...named, ...rest].join("; ") },
    now,
  );
  const last = findCondition(next, HEALTHY)?.lastTransitionTime ?? now;
  const [start = last] = same.map((verdict) => verdict.since ?? last).toSorted();
  return since(next, start);
}

/** How long something has been wrong; undefined when nothing is, or not for longer than the grace. */
export function unhealthyForMs(
  condition: Pick<Condition, "status" | "reason" | "lastTransitionTime"> | undefined,
  nowMs: number,
  graceMs = HEALTH_GRACE_MS,
): number | undefined {
  if (!condition || condition.status === "True" || ELSEWHERE.has(condition.reason ?? "")) return undefined;
  const elapsedMs = nowMs - Date.parse(condition.lastTransitionTime ?? "");
  const isAtOnce = AT_ONCE.has(condition.reason ?? "");
  return isAtOnce || elapsedMs > graceMs ? Math.max(0, elapsedMs) : undefined;
}

const NOT_FULLY_APPLIED = "NotFullyApplied";
const NOT_REPORTING = "MembersNotReporting";
/** `FullyApplied` says where it is not applied, and `Stale` which members do not report. */
const ELSEWHERE: ReadonlySet<string> = new Set([NOT_FULLY_APPLIED, NOT_REPORTING]);
const ALL_HEALTHY = { status: "True", reason: "Healthy", message: "" } as const;
const WITHOUT_FINDINGS = {
  all: ALL_HEALTHY,
  unreported: { status: "Unknown", reason: "NotReported", message: "not all members have reported its health yet" },
  stale: {
    status: "Unknown",
    reason: NOT_REPORTING,
    message: "some of its members do not report, and were healthy before",
  },
  unapplied: {
    status: "Unknown",
    reason: NOT_FULLY_APPLIED,
    message: "it is not applied on all of its members",
  },
} as const;
/** What is a problem at once comes first: the binding has its reason. */
const rankOf = ({ status, reason }: MemberVerdict): number => (status === "False" ? (AT_ONCE.has(reason) ? 0 : 1) : 2);

/** The same list if the time is the same. */
function since<C extends Condition>(conditions: readonly C[], time: string): readonly C[] {
  return findCondition(conditions, HEALTHY)?.lastTransitionTime === time
    ? conditions
    : conditions.map((condition) =>
        condition.type === HEALTHY ? { ...condition, lastTransitionTime: time } : condition,
      );
}
