export type { ResolveService, ServiceLocation } from "./endpoint.ts";
export { createWebhookLevel, FAILURE_POLICY } from "./level.ts";
export type { WebhookLevel, WebhookLevelOptions } from "./level.ts";
export { serviceAddress } from "./service-address.ts";
export { WebhookError } from "./webhook-error.ts";
export type { FailureReason } from "./webhook-error.ts";
