/**
 * The only API through which controllers access objects. One client has one identity and one field manager.
 *
 * Returned objects are shared, read-only and structured-cloneable, without promise of identity; `copy` them before
 * changing them. The server keeps no reference to its arguments. Nothing resolves in the same tick. Failures are
 * `ApiError`.
 */
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, Json } from "@flotilla/base";
import type { PatchType, RawRequest, RawResponse } from "./transport.ts";

export interface ObjectKey {
  cluster: string;
  namespace?: string;
  name: string;
}

export interface ReadOptions {
  /** Unset requests the newest version, `0` any cached version. */
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
   * `*` watches the kind in every logical cluster, in process only; `metadata` does not contain the cluster, so events
   * carry `cluster`.
   */
  cluster: string;
  /**
   * With `*`: the relevant clusters. Events of other clusters may be omitted, which avoids building objects that no
   * watcher reads.
   */
  where?(cluster: string): boolean;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Changes after this version; unset starts with the current objects. */
  resourceVersion?: string;
  /**
   * Starts with an ADDED event for every current object, then a BOOKMARK with `initialEventsEnd`, then changes. In
   * process, changes may arrive in between when the list is long; they then cover objects that the list omits.
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
   * `isInitial` marks objects of the initial list, where that is known; without it, a change during the list looks the
   * same.
   */
  | { type: "ADDED" | "MODIFIED" | "DELETED"; cluster: string; object: DeepReadonly<T>; isInitial?: boolean }
  /** Nothing changed up to this version. `initialEventsEnd` marks the end of the initial list. */
  | { type: "BOOKMARK"; resourceVersion: string; initialEventsEnd: boolean };

export interface WriteOptions {
  dryRun?: boolean;
  /** The owner of the written fields; defaults to the client's field manager. */
  fieldManager?: string;
  /** `Strict` rejects unknown and duplicate fields; unset, the server drops them with a warning. */
  fieldValidation?: "Strict";
  signal?: AbortSignal;
}

interface PatchOptions extends WriteOptions {
  type: Exclude<PatchType, "apply">;
  subresource?: "status" | "resize" | "approval" | "ephemeralcontainers";
}

interface ApplyOptions extends WriteOptions {
  /** Takes fields over from other managers instead of failing with a conflict. */
  force?: boolean;
  subresource?: "status";
}

export interface DeleteOptions extends WriteOptions {
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
}

/**
 * `gone`: the server has removed the object. `going`: finalizers and grace periods may keep it for a while, or the server
 * does not say.
 */
type Deletion = "gone" | "going";

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
  /** Server-side apply: the object contains every field that this manager owns. */
  apply<T extends KubernetesObject>(
    kind: Kind<T>,
    cluster: string,
    object: DeepReadonly<T>,
    options?: ApplyOptions,
  ): Promise<DeepReadonly<T>>;
  /** Resolves when the server has accepted the deletion. */
  delete(kind: Kind, key: ObjectKey, options?: DeleteOptions): Promise<Deletion>;
  deleteCollection(kind: Kind, options: ListOptions & DeleteOptions): Promise<void>;
  /** Proxy, log, exec, discovery: streams bytes as they arrive. */
  raw(request: RawRequest, signal?: AbortSignal): Promise<RawResponse>;
}
