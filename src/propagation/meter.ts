/**
 * What the stages tell whoever measures them. Nothing depends on the answers: a fleet without a meter does the same.
 *
 * Durations come from a clock that only goes forward, not from the one that controllers wait by: a stage takes real
 * time also where the other is turned by hand.
 */
import type { CycleMeter } from "./schedule/cycle-meter.ts";

/** Why bindings came to the scheduler; Karmada's words. */
export type IncomingEvent = "BindingAdd" | "BindingUpdate" | "ClusterChanged" | "ScheduleAttemptFailure";
/** What is decided anew: where a binding goes, or only how many replicas go there. Karmada's words. */
export type ScheduleType = "ReconcileSchedule" | "ScaleSchedule";

export interface PipelineMeter extends ExecutionMeter {
  /** match: a template was held against the policies. */
  policyFound(tookMs: number): void;
  /** match: its policy was applied, or was not. */
  policyApplied(tookMs: number, isApplied: boolean): void;
  /** match: a policy took a template over from another, or could not. */
  policyPreempted(isDone: boolean): void;
  /** schedule: so many bindings are to be looked at. */
  bindingsQueued(event: IncomingEvent, bindings: number): void;
  /** schedule: a decision was made and written. */
  bindingScheduled(type: ScheduleType, tookMs: number, isScheduled: boolean): void;
  readonly cycle: CycleMeter;
}

/** Of the stages that touch members, which also run in agents. */
export interface ExecutionMeter {
  /** Milliseconds since some moment. */
  nowMs(): number;
  /** execute: the objects of a Work were brought to its member, or some were not. */
  workSynced(tookMs: number, isSynced: boolean): void;
}
