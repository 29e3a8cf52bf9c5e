export { HEALTH_PATHS, createAuthenticator } from "./authenticator.ts";
export { createHttpServer, ListenError } from "./server.ts";
export type { HttpServer, HttpServerOptions } from "./server.ts";
