export type * from "./request.ts";
export { createApiServer, type ApiServer } from "./server.ts";
export type { Profile } from "./profiles.ts";
export { createSigningKey } from "./access/signing-key.ts";
export { HUB } from "./router.ts";
export * from "./http/index.ts";
