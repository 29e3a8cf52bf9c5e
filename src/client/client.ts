/**
 * The only way in which controllers touch objects. One client has one identity and one field manager.
 *
 * What it returns is shared and read-only, structured-cloneable and without promise of identity; `copy` it to change
 * it. The server keeps nothing that it is handed. Nothing resolves in the same tick. Failures are `ApiError`.
 */
import type { Kind, KubernetesObject } from "../api/index.ts";
import type { DeepReadonly, Json } from "../base/index.ts";
import type { PatchType, RawRequest, RawResponse } from "./transport.ts";

export interface ObjectKey {
  cluster: string;
  namespace?: string;
  name: string;
}

export interface ReadOptions {
  /** Unset asks for the newest, `0` takes whatever is cached. */
  resourceVersion?: string;
  signal?: AbortSignal;
}

export interface ListOptions extends ReadOptions {
  cluster: string;
  /** Unset lists all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
}

export interface WatchOptions {
  /**
   * `*` watches the kind in every logical cluster, in process only; `metadata` then does not say which, so events carry
   * `cluster`.
   */
  cluster: string;
  /**
   * With `*`: the clusters that matter. Events of others may be left out, so that nobody makes objects that nobody
   * looks at.
   */
  where?(cluster: string): boolean;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Changes after this version; unset starts with what is there. */
  resourceVersion?: string;
  /**
   * Starts with an ADDED for everything that is there, then a BOOKMARK with `initialEventsEnd`, then changes. In
   * process changes come in between where the list is long, and then tell what the list leaves out.
   */
  sendInitialEvents?: boolean;
  signal: AbortSignal;
}

export interface List<T> {
  items: readonly DeepReadonly<T>[];
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

export type WatchEvent<T> =
  /**
   * `isInitial` marks what was there at the start, where that is known; without it a change during the list looks the
   * same.
   */
  | { type: "ADDED" | "MODIFIED" | "DELETED"; cluster: string; object: DeepReadonly<T>; isInitial?: boolean }
  /** Nothing changed up to this version. `initialEventsEnd` marks the end of what was there. */
  | { type: "BOOKMARK"; resourceVersion: string; initialEventsEnd: boolean };

export interface WriteOptions {
  dryRun?: boolean;
  /** Who owns what is written; unset is the client's own. */
  fieldManager?: string;
  signal?: AbortSignal;
}

export interface PatchOptions extends WriteOptions {
  type: Exclude<PatchType, "apply">;
  subresource?: "status" | "resize" | "approval";
}

export interface ApplyOptions extends WriteOptions {
  /** Takes fields over from other managers instead of failing with a conflict. */
  force?: boolean;
  subresource?: "status";
}

export interface DeleteOptions extends WriteOptions {
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
}

export interface Client {
  get<T extends KubernetesObject>(kind: Kind<T>, key: ObjectKey, options?: ReadOptions): Promise<DeepReadonly<T>>;
  list<T extends KubernetesObject>(kind: Kind<T>, options: ListOptions): Promise<List<T>>;
  watch<T extends KubernetesObject>(kind: Kind<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>[]>;
  /** Namespace and name come from the object. */
  create<T extends KubernetesObject>(
    kind: Kind<T>,
    cluster: string,
    object: DeepReadonly<T>,
    options?: WriteOptions,
  ): Promise<DeepReadonly<T>>;
  update<T extends KubernetesObject>(
    kind: Kind<T>,
    cluster: string,
    object: DeepReadonly<T>,
    options?: WriteOptions,
  ): Promise<DeepReadonly<T>>;
  updateStatus<T extends KubernetesObject>(
    kind: Kind<T>,
    cluster: string,
    object: DeepReadonly<T>,
    options?: WriteOptions,
  ): Promise<DeepReadonly<T>>;
  patch<T extends KubernetesObject>(
    kind: Kind<T>,
    key: ObjectKey,
    patch: Json,
    options: PatchOptions,
  ): Promise<DeepReadonly<T>>;
  /** Server-side apply: the object states every field that this manager wants. */
  apply<T extends KubernetesObject>(
    kind: Kind<T>,
    cluster: string,
    object: DeepReadonly<T>,
    options?: ApplyOptions,
  ): Promise<DeepReadonly<T>>;
  /** Resolves when the server accepted it; finalizers and grace periods may keep the object for a while. */
  delete(kind: Kind, key: ObjectKey, options?: DeleteOptions): Promise<void>;
  deleteCollection(kind: Kind, options: ListOptions & DeleteOptions): Promise<void>;
  /** Proxy, log, exec, discovery: bytes as they come. */
  raw(request: RawRequest, signal?: AbortSignal): Promise<RawResponse>;
}
