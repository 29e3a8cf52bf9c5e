export { createDeletionProtection } from "./deletion-protection.ts";
export { policyTargets } from "./policy-targets.ts";
export { matchesAffinity } from "./cluster-affinity.ts";
export { createExecution } from "./create-execution.ts";
export * from "./create-propagation.ts";
export type { ExecutionMeter, PipelineMeter } from "./meter.ts";
export * from "./pipeline.ts";

// The planners and their inputs, for `explain`. They write nothing.
export { planAttached } from "./dependencies/plan-attached.ts";
export { formatReferences, mayBeNeeded, needOf, placeOf, placesOf, referencesOf } from "./dependencies/references.ts";
export { derivedNameProblem } from "./derived-names.ts";
export { isUndivided, planDispatch, type DispatchPlan } from "./dispatch/plan-dispatch.ts";
export { planDivision } from "./dispatch/plan-works.ts";
export { movesOf } from "./moves.ts";
export type { FailoverOptions } from "./failover/failover-controller.ts";
export { DRIFTED } from "./execute/plan-drift.ts";
export { askedVersion } from "./match/align-selectors.ts";
export { planActivation } from "./match/lazy-activation.ts";
export { bindingConflict, mergeBinding, planBinding } from "./match/plan-binding.ts";
export {
  CLAIM_ANNOTATIONS,
  CLAIM_LABELS,
  claimMetadata,
  planMatch,
  type MatchPlan,
  type Policy,
} from "./match/plan-match.ts";
export { createPolicyIndex } from "./match/policy-index.ts";
export { planPrerequisites } from "./match/prerequisites.ts";
export { sizeOf } from "./match/size-of.ts";
export { planNamespaceWorks } from "./namespaces/plan-namespace-works.ts";
export { OverrideError } from "./override/override-error.ts";
export { createRenderer } from "./override/renderer.ts";
export type { PlanningViews, Template } from "./planning-views.ts";
export { implicitPriority } from "./resource-selector.ts";
export { createFleet } from "./schedule/fleet.ts";
export { isToBeScheduled, planPatch } from "./schedule/plan-patch.ts";
export { planSchedule, type SchedulePlan } from "./schedule/plan-schedule.ts";
export { planScheduled } from "./schedule/plan-scheduled.ts";
export type { ScheduleOptions } from "./schedule/schedule-cycle.ts";
export { createWorkloadGroups } from "./schedule/workload-groups.ts";
export { summariseDecision, type DecisionSummary } from "./schedule/summarise-decision.ts";
export { isTemplate, type Templates } from "./templates.ts";
export { indexWorks, worksOfBinding } from "./works.ts";
