export * from "./admissions.ts";
export * from "./create-membership.ts";
export * from "./join.ts";
export type { ConnectMember } from "./remote-members.ts";
export { planAllocatableModelings } from "./modeling.ts";
export { clusterProxyAdministrators } from "./proxy-access.ts";
