/**
 * Keeps the scheduler's last decision for each binding, in compact form and for a bounded number of bindings. In memory
 * only.
 */
import { formatTime, type Clock } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { summariseDecision } from "../propagation/schedule/summarise-decision.ts";
import type { DecisionSummary } from "../propagation/schedule/summarise-decision.ts";
import type { SchedulePlan } from "../propagation/schedule/plan-schedule.ts";

export interface RecordedDecision {
  readonly at: string;
  readonly summary: DecisionSummary;
}

export interface LastDecisions {
  record(key: ObjectKey, plan: SchedulePlan): void;
  get(key: Omit<ObjectKey, "cluster">): RecordedDecision | undefined;
}

/** A decision takes about a kilobyte. Decisions dropped from the cache are recomputed on request. */
const MAX_DECISIONS = 20_000;

export function createLastDecisions(clock: Clock, max = MAX_DECISIONS): LastDecisions {
  /** Oldest first. */
  const decisions = new Map<string, RecordedDecision>();
  const idOf = ({ namespace = "", name }: Omit<ObjectKey, "cluster">): string => `${namespace}/${name}`;
  return {
    record(key, plan) {
      const summary = summariseDecision(plan);
      const id = idOf(key);
      // The scheduler checked again and had nothing to decide: the last decision remains valid, but a failure is
      // cleared.
      if (!summary && decisions.get(id)?.summary.message === undefined) return;
      decisions.delete(id);
      if (!summary) return;
      decisions.set(id, { at: formatTime(clock.now()), summary });
      const [oldest] = decisions.size > max ? decisions.keys() : [];
      if (oldest !== undefined) decisions.delete(oldest);
    },
    get: (key) => decisions.get(idOf(key)),
  };
}
