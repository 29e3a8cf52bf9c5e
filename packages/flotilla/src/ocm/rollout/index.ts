export * from "./plan-works-rollout.ts";
export { RolloutError } from "./rollout-error.ts";
