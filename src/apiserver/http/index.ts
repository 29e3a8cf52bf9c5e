export { HEALTH_PATHS, createAuthenticator } from "./authenticator.ts";
export { ensureCertificates } from "./certificate-files.ts";
export { createCertificateAuthority } from "./certificates.ts";
export type { CertificateAuthority } from "./certificates.ts";
export { createHttpServer } from "./server.ts";
export type { HttpServerOptions } from "./server.ts";
