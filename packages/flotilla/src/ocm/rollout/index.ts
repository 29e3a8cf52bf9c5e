export * from "./plan-rollout.ts";
export { RolloutError } from "./rollout-error.ts";
