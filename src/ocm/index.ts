export * from "./create-ocm.ts";
export { createWork, dryRunOver, type MemberFor, type WorkMember, type WorkOrigin } from "./work/index.ts";

export { createManagedNamespaceController } from "./namespaces/namespaces-controller.ts";

// Used by agents, so that they report like the hub.
export { planClaims } from "./faces/plan-claims.ts";
export * as registrationConditions from "./registration/conditions.ts";

// The decisions of Placements and rollouts, for explanations.
export { clusterTest } from "./placement/cluster-selector.ts";
export { planPlacement, type PlacementInput, type PlacementPlan } from "./placement/plan-placement.ts";
export type { PlacementMeter } from "./placement/meter.ts";
export type { PlacementSources } from "./placement/sources.ts";
export { toleratedUntil } from "./placement/tolerations.ts";
export { isCurrent, ownerValue, workFor } from "./replicaset/child-works.ts";
export { decidedBy, type Verdict } from "./replicaset/decided.ts";
export { referencesOf } from "./replicaset/plan-replica-set.ts";
export { rolloutOf } from "./replicaset/rollout-state.ts";
export { planRollout, RolloutError, type DecisionGroup } from "./rollout/index.ts";
export { DELETION_REFUSED, optionsOf } from "./work/index.ts";
