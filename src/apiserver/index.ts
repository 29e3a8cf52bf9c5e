export type * from "./request.ts";
export { createApiServer, type ApiServer } from "./server.ts";
export type { Profile } from "./profiles.ts";
export { createSigningKey } from "./access/signing-key.ts";
export { MAX_BODY_BYTES } from "./decode.ts";
export { HUB } from "./router.ts";
export { VERSION } from "./version.ts";
export type { WriteCount } from "./writes.ts";
export * from "./http/index.ts";
