/**
 * The scheduler's last decision about each binding, in few bytes and for a bounded number of bindings. Lost with the
 * process.
 */
import { formatTime, type Clock } from "../base/index.ts";
import type { ObjectKey } from "../client/index.ts";
import { summariseDecision } from "../propagation/index.ts";
import type { DecisionSummary, SchedulePlan } from "../propagation/index.ts";

export interface RecordedDecision {
  readonly at: string;
  readonly summary: DecisionSummary;
}

export interface LastDecisions {
  record(key: ObjectKey, plan: SchedulePlan): void;
  get(key: Omit<ObjectKey, "cluster">): RecordedDecision | undefined;
}

/** A decision takes about a kilobyte. Those that were made longest ago are computed anew when somebody asks. */
const MAX_DECISIONS = 20_000;

export function createLastDecisions(clock: Clock, max = MAX_DECISIONS): LastDecisions {
  /** The oldest first. */
  const decisions = new Map<string, RecordedDecision>();
  const idOf = ({ namespace = "", name }: Omit<ObjectKey, "cluster">): string => `${namespace}/${name}`;
  return {
    record(key, plan) {
      const summary = summariseDecision(plan);
      const id = idOf(key);
      // Looked at again, and nothing to decide: what was decided stands, but a failure is over.
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
