export type * from "./request/request.ts";
export { createApiServer, type ApiServer } from "./server.ts";
export { callLogicalCluster } from "./connect/logical-cluster-proxy.ts";
export type { ApiServerOptions } from "./server.ts";
export type { Profile } from "./clusters/profiles.ts";
export { serverMetrics } from "./metrics/server-metrics.ts";
export { createSigningKey } from "./access/signing-key.ts";
export * from "./http/index.ts";
