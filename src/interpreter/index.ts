export * from "./interpret-error.ts";
export * from "./interpreter.ts";
export * from "./kind-interpreter.ts";
export * from "./level.ts";
export * from "./operations.ts";
export { prune, withoutJobTtl } from "./prune.ts";
export { TEMPLATE_GENERATION } from "./replica-status.ts";
