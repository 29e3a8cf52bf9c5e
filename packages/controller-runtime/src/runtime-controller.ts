/**
 * Controller types: sources that enqueue keys, and a reconcile that brings one key to its desired state.
 *
 * `defineController` is for the common case, one kind and its finalizer; `defineKeyedController` for keys of any other
 * shape. The manager (`manager.ts`) runs them: one queue each, a key is never reconciled twice at the same time,
 * failures are retried with backoff.
 */
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, Log } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";

/**
 * `done`, or reconcile again after a delay. Throw to retry with backoff; throw `TerminalError` to wait for a change.
 */
export type Result = { requeueAfterMs?: number };
export const done: Result = Object.freeze({});

export interface ReconcileContext {
  log: Log;
  /** Aborted when the manager stops. */
  signal: AbortSignal;
}

/** The context that the manager passes to every reconcile. */
export interface RunContext extends ReconcileContext {
  informers: Informers;
  client: Client;
}

/**
 * A source of keys to reconcile. The manager starts it once; `enqueue` may be called at any time until `signal` is
 * aborted.
 */
export interface Source<K> {
  start(enqueue: (key: K, lane?: Lane) => void, signal: AbortSignal): void;
  /** True when no write is still pending delivery to `enqueue`. For `reconcileUntilQuiet`. */
  isQuiet(): boolean;
}

/** Fresh changes take precedence over resyncs and the initial list. */
export type Lane = "fresh" | "resync";

/** A controller as the manager runs it. */
export interface Controller<K = unknown> {
  readonly name: string;
  /**
   * The kinds it writes, as documentation for readers who search for a field's writer. Kinds that users choose
   * (templates, members' objects) cannot be listed.
   */
  readonly writes: readonly Kind[];
  /** Maximum number of concurrently reconciled keys. */
  readonly concurrency: number;
  readonly sources: readonly SourceRequest<K>[];
  /**
   * Kinds it reads in addition to those it watches. It starts as soon as these and its sources are listed; unset, it
   * waits for every open kind, which after a restart may take seconds longer.
   */
  readonly reads?: readonly Kind[];
  /** Identity of a key in the queue, in logs and in backoff. */
  idOf(key: K): string;
  /**
   * Of two ready keys the one with the higher priority is reconciled first. Called whenever a key becomes ready; by
   * default all are equal.
   */
  priorityOf?(key: K): number;
  reconcile(key: K, context: RunContext): Promise<Result>;
}

/**
 * Either a watch on a kind, for which the manager supplies the shared informer, or a custom source. A hub controller
 * that also watches members passes the members' `informers`.
 */
export type SourceRequest<K> = KindRequest<K> | { source: Source<K> };
export interface KindRequest<K> {
  kind: Kind;
  map(event: ObjectEvent): Iterable<K>;
  informers?: Informers;
}

/**
 * Objects that a controller created: a change enqueues the owner, found by the controller ownerReference. Built by
 * `owned`.
 */
export interface OwnedRequest {
  owned: Kind;
}

export interface ObjectEvent<T = KubernetesObject> {
  cluster: string;
  object: DeepReadonly<T>;
  /** The previous version; unset for a new object. */
  old?: DeepReadonly<T>;
  deleted: boolean;
}

/** Reads from the informer's cache of a kind. Never blocks; results are shared and read-only. */
export interface Lister<T extends KubernetesObject> {
  get(key: ObjectKey): DeepReadonly<T> | undefined;
  /** All objects, or those of a cluster or of a namespace in it. In no particular order. */
  list(where?: { cluster?: string; namespace?: string }): DeepReadonly<T>[];
  /** Objects that an index contains under this value. */
  by(index: string, value: string): DeepReadonly<T>[];
}

export interface Informer<T extends KubernetesObject> extends Lister<T> {
  readonly kind: Kind<T>;
  /** True once the initial list is complete; cached objects stay readable while the connection is lost. */
  readonly synced: boolean;
  /**
   * True while the list is complete and the connection is alive: only then does absence from the cache mean that the
   * object does not exist.
   */
  readonly fresh: boolean;
  /** Whether no object is cached. Hot code asks first about kinds that most hubs have no objects of. */
  readonly isEmpty: boolean;
  whenSynced(signal: AbortSignal): Promise<void>;
  /**
   * Calls back for every present object and for every change, in order. A passive listener does not keep the informer
   * open.
   */
  subscribe(listener: (event: ObjectEvent<T>, lane: Lane) => void, options?: { isPassive?: boolean }): () => void;
  /** Aborted when the informer is closed. */
  readonly closed: AbortSignal;
  /**
   * Indexes every object by the values that `valuesOf` returns, including present ones. A name can be added once;
   * `valuesOf` is pure.
   */
  addIndex(name: string, valuesOf: (object: DeepReadonly<T>, cluster: string) => readonly string[]): void;
  /** False while a list is in progress. Waiting for the clock before another attempt counts as quiet. */
  isQuiet(): boolean;
  /**
   * Resolves when no list is in progress: immediately, or when it has completed or failed, which `synced`
   * distinguishes.
   */
  whenQuiet(signal: AbortSignal): Promise<void>;
}

/** Shared informers, one per kind and version; opened on first use. */
/**
 * How long an informer stays open: until all are closed, or, for a kind that users define, until the server no longer
 * serves the kind and nothing subscribes to it.
 */
export type InformerLifetime = "always" | "while-served";

export interface Informers {
  /** An informer that is open `while-served` is requested again for every use: it may have been closed. Default: `always`. */
  of<T extends KubernetesObject>(kind: Kind<T>, lifetime?: InformerLifetime): Informer<T>;
}

export interface ControllerDefinition<T extends KubernetesObject> {
  name: string;
  for: Kind<T>;
  /** Which changes of objects of `for` enqueue them; all by default. A deletion always does. */
  concerns?(event: ObjectEvent<T>): boolean;
  /** The informers for `for`; defaults to the manager's own. */
  informers?: Informers;
  /** Other kinds whose changes enqueue objects of `for`; built by `watch` and `owned`. */
  watches?: readonly (SourceRequest<ObjectKey> | OwnedRequest)[];
  /** See `Controller`. */
  reads?: readonly Kind[];
  writes: readonly Kind[];
  concurrency?: number;
  /** See `Controller`. */
  priorityOf?(key: ObjectKey): number;
  /**
   * With `finalize`: the finalizer that holds the object until it is done. The creator of the object may already set
   * it, which saves a write.
   */
  finalizer?: string;
  reconcile(object: DeepReadonly<T>, context: ReconcileContext & { key: ObjectKey }): Promise<Result>;
  /**
   * Called instead of reconcile when the object is being deleted and still has the finalizer, which is removed after
   * `done`.
   */
  finalize?(object: DeepReadonly<T>, context: ReconcileContext & { key: ObjectKey }): Promise<Result>;
  /** Called when the object is deleted; for controllers that keep state in memory. */
  forget?(key: ObjectKey): void;
}
