/** Registration on the hub: accepts clusters, watches their leases, adds them to sets and removes them. */
export { createRegistration, type MemberViews } from "./create-registration.ts";
