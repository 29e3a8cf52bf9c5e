export { hookMetrics } from "./hook-metrics.ts";
export { createWebhookLevel } from "./level.ts";
export { serviceAddress } from "./service-address.ts";
