export { matchesAffinity } from "./cluster-affinity.ts";
export * from "./create-propagation.ts";
export * from "./pipeline.ts";
