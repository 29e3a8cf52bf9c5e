export type { Client, List, ListOptions, ObjectKey, WatchEvent, WatchOptions } from "./client.ts";
export { createClient } from "./create-client.ts";
export { CredentialsError, isPair } from "./credentials.ts";
export type { CredentialSource, Credentials } from "./credentials.ts";
export { eachObject } from "./each-object.ts";
export { ResponseLimitError, UnreachableError } from "./errors.ts";
export { find } from "./find.ts";
export { createHttpConnection } from "./http-connection.ts";
export type { HttpConnection } from "./http-connection.ts";
export type { HttpResponse } from "./http-requests.ts";
export type { BlockedSet } from "./blocked-addresses.ts";
export type { TlsOptions } from "./http-sockets.ts";
export { createHttp2Transport } from "./http2-transport.ts";
export type { Http2TransportOptions } from "./http2-transport.ts";
export { impersonationHeaders } from "./impersonation.ts";
export type { Impersonation } from "./impersonation.ts";
export { UnknownKindError, createKindResolver } from "./kind-resolver.ts";
export type { AnyKind, KindResolver } from "./kind-resolver.ts";
export { connectionOf } from "./kubeconfig-connection.ts";
export type { KubeconfigConnection } from "./kubeconfig-connection.ts";
export {
  loadKubeconfig,
  loadKubeconfigs,
  otherServersOf,
  parseKubeconfig,
  renderKubeconfig,
  serverExtensions,
} from "./kubeconfig.ts";
export type { Kubeconfig } from "./kubeconfig.ts";
export { createProxiedTransport } from "./proxied-transport.ts";
export { readJson, readText } from "./read-text.ts";
export { METHODS, PATCH_MEDIA_TYPES, queryText, resourcePath } from "./request-path.ts";
export { UNTRUSTED_LIMITS } from "./response-limits.ts";
export type { ResponseLimits } from "./response-limits.ts";
export { createServedVersionsClient } from "./served-versions.ts";
export type {
  PatchType,
  RawRequest,
  RawResponse,
  ResourcePath,
  Transport,
  TransportRequest,
  TransportWatchEvent,
  WriteVerb,
} from "./transport.ts";
export { joinSockets, openUpgrade } from "./upgrade.ts";
export type { UpgradeRequest, UpgradeResponse } from "./upgrade.ts";
export { tracedTransport } from "./traced-transport.ts";
export { createWatchDecoder } from "./watch-decoder.ts";
export { acceptKey, loadWebSockets } from "./websocket.ts";
export type { ProtocolViolation, WebSocket, WebSocketOptions } from "./websocket.ts";
export { parseWebhookJson, shown } from "./webhook/webhook-answer.ts";
export { createWebhookConnection, MAX_ANSWER_BYTES, MAX_CALLS_IN_FLIGHT } from "./webhook/webhook-connection.ts";
export type { ConnectWebhook, WebhookConnection } from "./webhook/webhook-connection.ts";
export { createWebhookLocator } from "./webhook/webhook-endpoint.ts";
export type { Endpoint, ResolveService, ServiceLocation } from "./webhook/webhook-endpoint.ts";
export { FAILURE_REASONS, WebhookError } from "./webhook/webhook-error.ts";
export type { FailureReason } from "./webhook/webhook-error.ts";
export { INITIAL_EVENTS_END } from "./create-client.ts";
