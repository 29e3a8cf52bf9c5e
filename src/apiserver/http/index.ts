export { HEALTH_PATHS, createAuthenticator } from "./authenticator.ts";
export { ensureCertificates } from "./certificate-files.ts";
export type { Certificates } from "./certificate-files.ts";
export { createCertificateAuthority } from "./certificates.ts";
export type { CertificateAuthority } from "./certificates.ts";
export { createHttpServer, ListenError } from "./server.ts";
export type { HttpServer, HttpServerOptions } from "./server.ts";
