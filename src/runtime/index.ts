export * from "./controller.ts";
export type { ControllerMetrics } from "./controller-runner.ts";
export { createStatusWriter, type StatusWriterOptions } from "./create-status-writer.ts";
export { defineController, defineKeyedController, idOfKey, keyOf, owned, watch } from "./define-controller.ts";
export { createInformers, type InformersOptions, type SharedInformers } from "./informers.ts";
export { createManager, type Manager, type ManagerOptions } from "./manager.ts";
export { createOwnedSet, OwnedSetError, type Changes, type OwnedSet, type OwnedSetOptions } from "./owned-set.ts";
export { createDynamicSource, informerSource, type DynamicSource } from "./sources.ts";
export type * from "./status-writer.ts";
