export { policyMetrics } from "./policies/policy-metrics.ts";
export { aggregationMetrics } from "./aggregation/aggregation-metrics.ts";
export { frontProxyName } from "./aggregation/identity-headers.ts";
export type { Action } from "./actions/action.ts";
export { auditMetrics, createAuditErrors, createAuditor } from "./audit/auditor.ts";
export type { AuditBackend, AuditLine, Auditor } from "./audit/auditor.ts";
export { readAuditPolicy } from "./audit/audit-policy.ts";
export { conversionMetrics } from "./conversion/conversion-metrics.ts";
export { flowMetrics } from "./flowcontrol/flow-metrics.ts";
export { webhookMetrics } from "./webhooks/webhook-metrics.ts";
export { readClaims } from "./access/account-claims.ts";
export { decodeToken, hasGoodSignature } from "./access/jwt.ts";
export { SERVICE_ACCOUNT_ISSUER } from "./access/account-tokens.ts";
export { anyOf } from "./access/external-tokens.ts";
export type { ExternalTokens } from "./access/external-tokens.ts";
export { identityProvider } from "./encryption/value-providers.ts";
export { createKmsPlugin } from "./encryption/kms-plugin.ts";
export { createKmsProvider } from "./encryption/kms-provider.ts";
export type { KmsProvider } from "./encryption/kms-provider.ts";
export type { FrontProxySettings } from "./http/front-proxies.ts";
export { readAuthorizationConfiguration } from "./identity/authorization-configuration.ts";
export { AuthorizationMetrics, authorizationMetrics } from "./identity/authorization-metrics.ts";
export { createAuthorizationWebhook } from "./identity/authorization-webhook.ts";
export { readAuthenticationConfiguration } from "./identity/authentication-configuration.ts";
export type { AuthenticationConfiguration } from "./identity/authentication-configuration.ts";
export { readEncryptionConfiguration } from "./encryption/encryption-configuration.ts";
export type { EncryptionRule } from "./encryption/encryption-configuration.ts";
export { encryptEngine } from "./encryption/encrypted-engine.ts";
export { createIssuerKeys } from "./identity/issuer-keys.ts";
export type { FetchJson } from "./identity/issuer-keys.ts";
export { createJwtTokens } from "./identity/jwt-tokens.ts";
export { createSigningKey, openSigningKey } from "./access/signing-key.ts";
export type { SigningKey } from "./access/signing-key.ts";
export { clusterId } from "./clusters/layer.ts";
export { LogicalCluster, logicalClusterAdmission, logicalClusterKind } from "./clusters/logical-cluster-kind.ts";
export type { ClusterObject, Profile } from "./clusters/profiles.ts";
export { callLogicalCluster } from "./connect/logical-cluster-proxy.ts";
export { HEALTH_PATHS, createAuthenticator } from "./http/authenticator.ts";
export { ListenError, createHttpServer } from "./http/server.ts";
export type { HttpServer, HttpServerOptions } from "./http/server.ts";
export { serverMetrics } from "./serve/server-metrics.ts";
export { acceptedType, failureFormat, representationOf } from "./request/negotiate.ts";
export { asksForWatch, integerOf, listQuery, parseRevision, timeoutMsOf, writeOptions } from "./request/options.ts";
export type { ApiResponse, UserInfo } from "./request/request.ts";
export { routeOf, splitCluster } from "./request/router.ts";
export { createApiServer } from "./server.ts";
export type { ApiServer, ApiServerOptions } from "./server.ts";
export type { Cache } from "./store/cache.ts";
export { copyStore, openRestored, restoreInto } from "./clusters/copy-store.ts";
export { createCache } from "./store/create-cache.ts";
export type { Change, Engine, Entry, Guard, Outcome, PastChange, Write } from "./store/engine.ts";
export {
  CompactedError,
  DamagedStoreError,
  StoreError,
  StoreUnavailableError,
  StoreWriteError,
} from "./store/errors.ts";
export { parseEtcdAddress } from "./store/etcd/etcd-address.ts";
export { openEtcdEngine } from "./store/etcd/etcd-engine.ts";
export { createMemoryEngine } from "./store/memory-engine.ts";
export { shiftRevisions } from "./store/shifted-engine.ts";
export { openSqliteEngine } from "./store/sqlite-engine.ts";
export { checkStore, repairStore } from "./store/sqlite-repair.ts";
export { addFiles, inspectSnapshot, readFiles, restoreSnapshot } from "./store/sqlite-restore.ts";
export type { SnapshotFile } from "./store/sqlite-restore.ts";
export { writeSnapshot } from "./store/sqlite-snapshot.ts";
