export * from "./admissions.ts";
export * from "./create-membership.ts";
export * from "./join.ts";
export { planAllocatableModelings } from "./modeling.ts";
export { clusterProxyAdministrators } from "./proxy-access.ts";
