/**
 * How requests reach an API server: over HTTP/2, or by a direct call when it runs in this process. `http2-transport.ts`
 * and the API server (`direct-transport.ts`) implement this interface, and the package `server` connects them.
 * `test/contract/client.ts` checks that both return the same results.
 */
import type { JsonObject } from "@flotilla/base";
import type { Impersonation } from "./impersonation.ts";

export interface ResourcePath {
  cluster: string;
  group: string;
  version: string;
  resource: string;
  namespace?: string;
  name?: string;
  subresource?: string;
}

export type WriteVerb = "create" | "update" | "patch" | "delete" | "deletecollection";
export type PatchType = "json" | "merge" | "strategic" | "apply";

export interface TransportRequest {
  verb: "get" | "list" | WriteVerb;
  path: ResourcePath;
  /**
   * Query parameters with their Kubernetes names: `labelSelector`, `resourceVersion`, `fieldManager`, `force`,
   * `dryRun`…
   */
  query?: Readonly<Record<string, string>>;
  patchType?: PatchType;
  /** An object, DeleteOptions, or a patch; a JSON patch is a list. The transport does not keep or change it. */
  body?: unknown;
}

export interface TransportWatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  /** The logical cluster that the object is in; set on a watch of `*`. */
  cluster?: string;
  object: JsonObject;
  /** Set by the direct transport on objects of the initial list: changes may arrive before the whole list was sent. */
  isInitial?: true;
}

export interface RawRequest {
  method: string;
  /** Path and query under the cluster's root: `/version`, `/api/v1/namespaces/a/pods/b/log?follow=true`. */
  path: string;
  cluster: string;
  headers?: Record<string, string>;
  /** The user to impersonate for this request; the transport's own user needs the right to. */
  impersonate?: Impersonation;
  body?: Uint8Array;
}

export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  body: AsyncIterable<Uint8Array>;
}

export interface Transport {
  /**
   * Rejects with `ApiError` for a failure Status, with `UnreachableError` when no response arrived. Never resolves in
   * the same tick.
   */
  send(request: TransportRequest, signal?: AbortSignal): Promise<JsonObject>;
  /**
   * Events in batches until the server ends the watch or `signal` is aborted. An ERROR event is thrown as `ApiError`.
   * `cluster: "*"` covers every logical cluster of a Flotilla hub, or those that match `where`.
   */
  watch(
    request: { path: ResourcePath; query?: Record<string, string>; where?: (cluster: string) => boolean },
    signal: AbortSignal,
  ): AsyncIterable<TransportWatchEvent[]>;
  raw(request: RawRequest, signal?: AbortSignal): Promise<RawResponse>;
  close(): Promise<void>;
}
