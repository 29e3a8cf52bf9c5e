export type { ConnectWebhook } from "./connection.ts";
export { createWebhookLevel } from "./level.ts";
export { serviceAddress } from "./service-address.ts";
export { WebhookError } from "./webhook-error.ts";
