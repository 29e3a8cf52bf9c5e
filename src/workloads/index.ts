export { createKruiseAdmissions, type KruiseAdmissions } from "./kruise/kruise-controllers.ts";
export { containerHashes } from "./kruise/in-place/container-hashes.ts";
export { createFeatureGates, parseFeatureGates, type FeatureGates } from "./kruise/feature-gates.ts";
export type { WorkloadDependencies } from "./dependencies.ts";
export { createWorkloadControllerGroups, createWorkloadControllers } from "./create-workload-controllers.ts";
export type { WorkloadControllers } from "./create-workload-controllers.ts";
