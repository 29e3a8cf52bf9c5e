/** The rules of Service addresses and their ranges: loaded together when the first of their objects is written. */
export { ipAddressRules } from "./ip-address-rules.ts";
export { serviceCidrRules } from "./service-cidr-rules.ts";
