/**
 * Which rules of a CronFederatedHPA are due, and when the next one is. Pure.
 *
 * The status keeps the next time of each rule, so a run that was due while no controller ran is noticed. One that is at
 * most five minutes late is carried out; an older one is recorded as failed, because what it would set may be wrong by
 * now. Of several missed runs of a rule only the latest counts.
 */
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { parseSchedule, zonedSchedule } from "@flotilla/kubernetes";
import type { CronFederatedHpa } from "@flotilla/karmada";

export type ReadonlyCron = DeepReadonly<CronFederatedHpa>;
export type CronRule = ReadonlyCron["spec"]["rules"][number];
type Executions = NonNullable<NonNullable<ReadonlyCron["status"]>["executionHistories"]>[number];

/** Longer than a restart, shorter than any schedule that people set a time of the day for. */
const MAX_LATE_MS = 5 * 60_000;
const HISTORY_LIMIT = 3;
/** A schedule that never comes again is looked at again after a change of the object only. */
const NEVER = undefined;

export interface RulePlan {
  rule: CronRule;
  /** The time of the schedule that is due now. */
  dueMs?: number;
  /** The time of the schedule that was missed. */
  missedMs?: number;
  /** Unset for a suspended rule, and for a schedule that never comes again. */
  nextMs?: number;
}

export function planCronRuns({ spec, status }: ReadonlyCron, nowMs: number): RulePlan[] {
  return spec.rules
    .map((rule) => planRule(rule, historyOf(status, rule.name), nowMs))
    .toSorted((a, b) => (a.dueMs ?? 0) - (b.dueMs ?? 0));
}

function planRule(rule: CronRule, history: Executions | undefined, nowMs: number): RulePlan {
  if (rule.suspend) return { rule };
  const schedule = parseSchedule(zonedSchedule(rule.schedule, rule.timeZone));
  // Admission rejects such a rule; one that was stored otherwise never runs.
  if (typeof schedule === "string") return { rule };
  const nextMs = schedule.next(nowMs) ?? NEVER;
  const expectedMs = history?.nextExecutionTime ? Date.parse(history.nextExecutionTime) : Number.NaN;
  // A time that the schedule does not have is that of the rule before it was changed.
  if (!(expectedMs <= nowMs) || schedule.next(expectedMs - 1) !== expectedMs) return { rule, nextMs };
  const latestMs = latestOf(schedule, expectedMs, nowMs);
  return nowMs - latestMs <= MAX_LATE_MS ? { rule, dueMs: latestMs, nextMs } : { rule, missedMs: latestMs, nextMs };
}

/** The last time of the schedule until now: those that a run may still be late for are few, all others do not matter. */
function latestOf(schedule: { next(afterMs: number): number | undefined }, firstMs: number, nowMs: number): number {
  let latestMs = schedule.next(Math.max(firstMs - 1, nowMs - MAX_LATE_MS - 1)) ?? firstMs;
  if (latestMs > nowMs) return firstMs;
  for (let next = schedule.next(latestMs); next !== undefined && next <= nowMs; next = schedule.next(latestMs))
    latestMs = next;
  return latestMs;
}

/** What became of a rule that was due. */
export interface RuleOutcome {
  plan: RulePlan;
  /** Unset if it was carried out. */
  problem?: string;
}

/** The status after this evaluation. Histories of removed rules are dropped. */
export function planCronStatus(
  { spec, status }: ReadonlyCron,
  outcomes: readonly RuleOutcome[],
  nowMs: number,
): NonNullable<ReadonlyCron["status"]> {
  const byRule = new Map(outcomes.map((outcome) => [outcome.plan.rule.name, outcome]));
  return {
    executionHistories: spec.rules.map((rule) => {
      const before = historyOf(status, rule.name);
      const outcome = byRule.get(rule.name);
      return {
        ruleName: rule.name,
        nextExecutionTime: outcome?.plan.nextMs === undefined ? undefined : formatTime(outcome.plan.nextMs),
        ...executionsAfter(before, rule, outcome, nowMs),
      };
    }),
  };
}

type Histories = Pick<Executions, "successfulExecutions" | "failedExecutions">;

function executionsAfter(
  before: Executions | undefined,
  rule: CronRule,
  outcome: RuleOutcome | undefined,
  nowMs: number,
): Histories {
  const { successfulExecutions: successful = [], failedExecutions: failed = [] } = before ?? {};
  const { successfulHistoryLimit = HISTORY_LIMIT, failedHistoryLimit = HISTORY_LIMIT } = rule;
  const { dueMs, missedMs } = outcome?.plan ?? {};
  const atMs = dueMs ?? missedMs;
  const times = { scheduleTime: formatTime(atMs ?? 0), executionTime: formatTime(nowMs) };
  const message =
    missedMs === undefined
      ? outcome?.problem
      : `not carried out: it was due more than ${MAX_LATE_MS / 60_000} minutes before a controller ran`;
  const added = atMs === undefined ? "none" : message === undefined ? "successful" : "failed";
  const newest = {
    ...times,
    appliedReplicas: rule.targetReplicas,
    appliedMinReplicas: rule.targetMinReplicas,
    appliedMaxReplicas: rule.targetMaxReplicas,
  };
  const kept = <T>(items: readonly T[], limit: number): readonly T[] | undefined =>
    items.length === 0 || limit === 0 ? undefined : items.slice(0, limit);
  return {
    successfulExecutions: kept(added === "successful" ? [newest, ...successful] : successful, successfulHistoryLimit),
    failedExecutions: kept(
      added === "failed" ? [{ ...times, message: message ?? "" }, ...failed] : failed,
      failedHistoryLimit,
    ),
  };
}

const historyOf = (status: ReadonlyCron["status"], ruleName: string): Executions | undefined =>
  status?.executionHistories?.find((history) => history.ruleName === ruleName);
