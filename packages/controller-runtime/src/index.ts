export { controllerMetrics, writeControllerMetrics } from "./controller-metrics.ts";
export type { ControllerMetrics } from "./controller-runner.ts";
export { createEventRecorders } from "./create-event-recorders.ts";
export { createStatusWriter, STATUS_CHANGES } from "./create-status-writer.ts";
export type { StatusChange } from "./create-status-writer.ts";
export { defineController, defineKeyedController, idOfKey, keyOf, owned, watch } from "./define-controller.ts";
export type { EventRecorder, EventRecorders, RecordedEvent } from "./events.ts";
export { createFailureReports, REPORT_AGAIN_MS } from "./failure-reports.ts";
export type { FailureReports } from "./failure-reports.ts";
export { createInformerBudget } from "./informer-budget.ts";
export type { InformerBudget, InformerLimits } from "./informer-budget.ts";
export { createInformers } from "./informers.ts";
export type { SharedInformers } from "./informers.ts";
export { fenceTransport } from "./fenced-transport.ts";
export { createLeaderElection } from "./leader-election.ts";
export type { Leadership } from "./leader-election.ts";
export { createManager } from "./manager.ts";
export type { Manager } from "./manager.ts";
export { unlessChanged } from "./optimistic.ts";
export { OwnedSetError, createOwnedSet } from "./owned-set.ts";
export { isRejectedWrite, rejectionOf } from "./rejected-write.ts";
export type { FailedWrite } from "./owned-set.ts";
export type { OwnedSet } from "./owned-set.ts";
export { isLater } from "./resource-version.ts";
export { done } from "./runtime-controller.ts";
export type {
  Controller,
  ControllerDefinition,
  Informer,
  InformerLifetime,
  Informers,
  KindRequest,
  Lane,
  Lister,
  ObjectEvent,
  ReconcileContext,
  Result,
  RunContext,
  Source,
  SourceRequest,
} from "./runtime-controller.ts";
export { createDynamicSource, informerSource } from "./sources.ts";
export type { DynamicSource } from "./sources.ts";
export { isStatusChange } from "./status-change.ts";
export type { StatusWriter } from "./status-writer.ts";
export { createWriteThroughClient } from "./write-through.ts";
export { yieldToOtherControllers } from "./yield-to-other-controllers.ts";
