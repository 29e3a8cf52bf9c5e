export { createWebhookLevel } from "./level.ts";
export { serviceAddress } from "./service-address.ts";
