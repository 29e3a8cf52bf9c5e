export * from "./runtime-controller.ts";
export { controllerMetrics, writeControllerMetrics } from "./controller-metrics.ts";
export type { ControllerMetrics } from "./controller-runner.ts";
export { createStatusWriter } from "./create-status-writer.ts";
export { defineController, defineKeyedController, idOfKey, keyOf, owned, watch } from "./define-controller.ts";
export { createEventRecorders } from "./create-event-recorders.ts";
export type * from "./events.ts";
export { createInformers, type SharedInformers } from "./informers.ts";
export { createLeaderElection } from "./leader-election.ts";
export { createManager, type Manager } from "./manager.ts";
export { isLater } from "./resource-version.ts";
export { unlessChanged } from "./optimistic.ts";
export { createOwnedSet, OwnedSetError, type OwnedSet } from "./owned-set.ts";
export {
  yieldToOtherControllers as standAside,
  type YieldConditions as Elsewhere,
} from "./yield-to-other-controllers.ts";
export { createDynamicSource, informerSource, type DynamicSource } from "./sources.ts";
export type * from "./status-writer.ts";
export { createWriteThroughClient } from "./write-through.ts";
