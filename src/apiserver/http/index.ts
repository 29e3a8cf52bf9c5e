export { ANONYMOUS, HEALTH_PATHS, clusterOrganization, createAuthenticator } from "./authenticator.ts";
export type { AuthenticatorOptions } from "./authenticator.ts";
export { CertificateError, ensureCertificates } from "./certificate-files.ts";
export type { Certificates } from "./certificate-files.ts";
export { createCertificateAuthority, openCertificateAuthority } from "./certificates.ts";
export type { CertificateAuthority, KeyPair } from "./certificates.ts";
export type { ClientSubject } from "./peer.ts";
export { ListenError, createHttpServer } from "./server.ts";
export type { HttpServer, HttpServerOptions, ServerTls } from "./server.ts";
