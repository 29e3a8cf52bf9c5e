/**
 * Measurements of the stages. Nothing depends on the meter: a fleet without one behaves the same.
 *
 * Durations use a monotonic clock, not the controllers' clock: a stage takes real time even where a test advances that
 * clock manually.
 */
/** Why bindings were enqueued for scheduling; Karmada's label values. */
type IncomingEvent = "BindingAdd" | "BindingUpdate" | "ClusterChanged" | "ScheduleAttemptFailure";
/** What is decided again: the clusters of a binding, or only their replicas. Karmada's label values. */
export type ScheduleType = "ReconcileSchedule" | "ScaleSchedule";

export interface PipelineMeter extends ExecutionMeter {
  /** match: a template was matched against the policies. */
  policyFound(tookMs: number): void;
  /** match: its policy was applied, or failed to apply. */
  policyApplied(tookMs: number, isApplied: boolean): void;
  /** match: a policy preempted another, or failed to. */
  policyPreempted(isDone: boolean): void;
  /** schedule: bindings were enqueued. */
  bindingsQueued(event: IncomingEvent, bindings: number): void;
  /** schedule: a decision was made and written. */
  bindingScheduled(type: ScheduleType, tookMs: number, isScheduled: boolean): void;
  readonly cycle: CycleMeter;
}

/** For the stages that access members, which also run in agents. */
export interface ExecutionMeter {
  /** Milliseconds since an arbitrary origin. */
  nowMs(): number;
  /** execute: the objects of a Work were applied on its member, or some failed. */
  workSynced(tookMs: number, isSynced: boolean): void;
  /**
   * One more or one fewer object of a member is not written because of an oscillation; `isNew` if it has just been
   * found.
   */
  objectsStopped(this: void, cluster: string, change: 1 | -1, isNew: boolean): void;
}

/** Karmada's label values. */
export type CycleStep = "Filter" | "Score" | "Select" | "AssignReplicas";

export interface CycleMeter {
  /** Milliseconds since an arbitrary origin, on a monotonic clock. */
  nowMs(): number;
  step(step: CycleStep, tookMs: number): void;
  /** All plugins of an extension point for one cluster. */
  point(point: "Filter" | "Score", tookMs: number, fits: boolean): void;
  plugin(plugin: string, point: "Filter" | "Score", tookMs: number, fits: boolean): void;
}
