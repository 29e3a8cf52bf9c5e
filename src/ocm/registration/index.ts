/** The hub's side of registration: clusters that are accepted, watched, put into sets and let go. */
export { createRegistration, type MemberViews, type RegistrationOptions } from "./create-registration.ts";
