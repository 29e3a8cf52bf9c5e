/**
 * What a controller is: sources that say which keys to look at, and a reconcile that brings one key to its desired
 * state.
 *
 * `defineController` is for the common case, one kind and its finalizer; `defineKeyedController` for keys of any other
 * shape. The manager (`manager.ts`) runs them: one queue each, a key is never reconciled twice at the same time,
 * failures come back with back-off.
 */
import type { Kind, KubernetesObject } from "../api/index.ts";
import type { DeepReadonly, Log } from "../base/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";

/** `done`, or look again after a while. Throw to retry with back-off; throw `TerminalError` to wait for a change. */
export type Result = { requeueAfterMs?: number };
export const done: Result = Object.freeze({});

export interface ReconcileContext {
  log: Log;
  /** Aborted when the manager stops. */
  signal: AbortSignal;
}

/** What the manager hands to every reconcile. */
export interface RunContext extends ReconcileContext {
  informers: Informers;
  client: Client;
}

/**
 * Something that says which keys need a look. Started once by the manager; `enqueue` may be called at any time until
 * `signal` is aborted.
 */
export interface Source<K> {
  start(enqueue: (key: K, lane?: Lane) => void, signal: AbortSignal): void;
  /** True when nothing that was written is still on its way to `enqueue`. For `reconcileUntilQuiet`. */
  isQuiet(): boolean;
}

/** Fresh changes go before resyncs and the initial list. */
export type Lane = "fresh" | "resync";

/** A controller as the manager runs it. */
export interface Controller<K = unknown> {
  readonly name: string;
  /**
   * The kinds it writes, for people who look for a field's writer. Kinds that users choose (templates, members'
   * objects) cannot be listed.
   */
  readonly writes: readonly Kind[];
  /** How many keys at the same time. */
  readonly concurrency: number;
  readonly sources: readonly SourceRequest<K>[];
  /**
   * What it reads besides what it watches. It begins as soon as these and its sources are listed; unset, it waits for
   * every kind that is open, which after a restart may take seconds longer.
   */
  readonly reads?: readonly Kind[];
  /** Identity of a key in the queue, in logs and in back-off. */
  idOf(key: K): string;
  /**
   * Of two keys that are ready the one with the higher number is reconciled first. Asked whenever one becomes ready;
   * all are equal unless given.
   */
  priorityOf?(key: K): number;
  reconcile(key: K, context: RunContext): Promise<Result>;
}

/**
 * Either a watch on a kind, for which the manager supplies the shared informer, or a source of the controller's own. A
 * controller of the hub that also watches members names the members' `informers`.
 */
export type SourceRequest<K> = KindRequest<K> | { source: Source<K> };
export interface KindRequest<K> {
  kind: Kind;
  map(event: ObjectEvent): Iterable<K>;
  informers?: Informers;
}

/**
 * Objects that a controller made: a change leads to the owner, found by the controller ownerReference. Built by
 * `owned`.
 */
export interface OwnedRequest {
  owned: Kind;
}

export interface ObjectEvent<T = KubernetesObject> {
  cluster: string;
  object: DeepReadonly<T>;
  /** What was there before; unset for a new object. */
  old?: DeepReadonly<T>;
  deleted: boolean;
}

/** Reads of what the informer of a kind has seen. Never blocks; results are shared and read-only. */
export interface Lister<T extends KubernetesObject> {
  get(key: ObjectKey): DeepReadonly<T> | undefined;
  /** All of a cluster, or of a namespace in it, or everything. In no particular order. */
  list(where?: { cluster?: string; namespace?: string }): DeepReadonly<T>[];
  /** Objects that an index filed under this value. */
  by(index: string, value: string): DeepReadonly<T>[];
}

export interface Informer<T extends KubernetesObject> extends Lister<T> {
  readonly kind: Kind<T>;
  /** True once the first list is complete; what was seen stays readable also while the connection is lost. */
  readonly synced: boolean;
  /** True while the list is complete and the connection alive: only then does absence mean absence. */
  readonly fresh: boolean;
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Calls back for everything present and for every change, in order. */
  subscribe(listener: (event: ObjectEvent<T>, lane: Lane) => void): () => void;
  /**
   * Files every object under the values that `valuesOf` gives, present ones included. A name can be added once;
   * `valuesOf` is pure.
   */
  addIndex(name: string, valuesOf: (object: DeepReadonly<T>, cluster: string) => readonly string[]): void;
  /** False while a list is under way. Waiting for the clock before another try counts as quiet. */
  isQuiet(): boolean;
  /** Resolves when no list is under way: at once, or when it is complete or has failed, which `synced` tells apart. */
  whenQuiet(signal: AbortSignal): Promise<void>;
}

/** Shared informers, one per kind and version; opened on first use. */
export interface Informers {
  of<T extends KubernetesObject>(kind: Kind<T>): Informer<T>;
}

export interface ControllerDefinition<T extends KubernetesObject> {
  name: string;
  for: Kind<T>;
  /** Where `for` is watched; unset uses the manager's own. */
  informers?: Informers;
  /** Other kinds whose changes make objects of `for` worth a look; built by `watch` and `owned`. */
  watches?: readonly (SourceRequest<ObjectKey> | OwnedRequest)[];
  /** As those of `Controller`. */
  reads?: readonly Kind[];
  writes: readonly Kind[];
  concurrency?: number;
  /** As that of `Controller`. */
  priorityOf?(key: ObjectKey): number;
  /**
   * With `finalize`: the finalizer that holds the object until it is done. Whoever creates the object may set it
   * already, which saves a write.
   */
  finalizer?: string;
  reconcile(object: DeepReadonly<T>, context: ReconcileContext & { key: ObjectKey }): Promise<Result>;
  /**
   * Called instead of reconcile when the object is being deleted and still carries the finalizer, which is removed
   * after `done`.
   */
  finalize?(object: DeepReadonly<T>, context: ReconcileContext & { key: ObjectKey }): Promise<Result>;
  /** The object is gone; for controllers that keep something in memory. */
  forget?(key: ObjectKey): void;
}
