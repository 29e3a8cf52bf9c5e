export { explain } from "./explain.ts";
export { createExplainer, type Explainer } from "./explainer.ts";
export * from "./explanation.ts";
export type { FieldChange } from "./field-changes.ts";
export { createLastDecisions } from "./last-decisions.ts";
export { createOcmExplainer } from "./ocm/ocm-explainer.ts";
export { planChanges, planFleet, planNamespaceChanges, type FleetPlan, type MemberChange } from "./plan-fleet.ts";
export { SNAPSHOT_KINDS, viewsOf, type FleetSnapshot } from "./snapshot.ts";
export type { TemplatePlan } from "./plan-template.ts";
