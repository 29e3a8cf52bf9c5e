export * from "./admissions.ts";
export * from "./create-membership.ts";
export * from "./join.ts";
export { joinedClusters } from "./joined-clusters.ts";
export * from "./member.ts";
export { createPulledMembers } from "./pulled-members.ts";
export { createClusterProxy } from "./proxy.ts";
export { createRemoteMembers, type ConnectMember } from "./remote-members.ts";
export { clusterProxyAdministrators } from "./proxy-access.ts";

// Reporting and serving a member, for agents.
export { createCapacities } from "./capacities.ts";
export { createChanges } from "./changes.ts";
export { createMembershipController, type MemberAccess } from "./membership-controller.ts";
export { createLeavingDelivery, leaveModeOf } from "./leaving-delivery.ts";
export { createMemberParts } from "./member-parts.ts";
export { createProber, type Prober } from "./prober.ts";
export { nextTrend, type Health, type Trend } from "./ready.ts";
export { amountOf, resourceListOf } from "./resources.ts";
