/**
 * An in-memory cache of one kind, kept current by a streaming list and a watch. It survives any connection failure: it
 * resumes after the last seen version, and when the server no longer has that version it lists again and notifies its
 * listeners only of real differences.
 */
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { abortable, FlotillaError, sleep, type Clock, type DeepReadonly, type Log, type Random } from "@flotilla/base";
import { ResponseLimitError } from "@flotilla/client";
import type { Client, ObjectKey, WatchEvent } from "@flotilla/client";
import { ApiError, isExpired, isInvalid, isNotFound } from "@flotilla/apimachinery";
import { InformerBudgetError, sizeOf, type InformerBudget } from "./informer-budget.ts";
import type { Informer, Lane } from "./runtime-controller.ts";
import { ObjectStore, type Stored, type ValuesOf } from "./object-store.ts";
import { InformerListeners, type Listener } from "./informer-listeners.ts";
import { ListWaits } from "./list-waits.ts";
import { isLater, isNewer } from "./resource-version.ts";

/** A lost connection is retried soon, and at least twice a minute. */
const FIRST_RECONNECT_MS = 200;
const LAST_RECONNECT_MS = 30_000;
/**
 * A kind is served as soon as its CustomResourceDefinition exists; retrying every few seconds costs one rejected
 * request.
 */
const LAST_UNSERVED_MS = 5_000;
/** For servers without streaming lists; client-go's page size. */
const PAGE_SIZE = 500;
/** Pages become smaller until they fit into the limit of a response; ten objects of etcd's largest size do. */
const MIN_PAGE_SIZE = 10;
/** A late event is late by only a few; more deletions than this are not remembered. */
const MAX_DELETIONS = 256;

/** The watched logical clusters: one, or the matching ones of this process. */
export type Scope = { cluster: string; where?: (cluster: string) => boolean };

export interface InformerOptions<T extends KubernetesObject> {
  kind: Kind<T>;
  client: Client;
  clock: Clock;
  random: Random;
  log: Log;
  scope: Scope;
  /** Closes the informer. */
  signal: AbortSignal;
  /** Limits what the informer holds, together with others. Unset trusts the server. */
  budget?: InformerBudget;
  /** Called when a list begins; the first one begins at once. */
  onListing: (informer: SharedInformer<T>) => void;
  /** Called after every attempt that the server answered with 404. */
  onUnserved: (informer: SharedInformer<T>) => void;
}

export class SharedInformer<T extends KubernetesObject> implements Informer<T> {
  readonly kind: Kind<T>;
  readonly openedMs: number;
  readonly #options: InformerOptions<T>;
  readonly #log: Log;
  readonly #covers: (cluster: string) => boolean;
  readonly #store = new ObjectStore<T>();
  readonly #firstList = Promise.withResolvers<void>();
  readonly #firstAnswer = Promise.withResolvers<void>();
  #restart = new AbortController();
  readonly #lists = new ListWaits();
  readonly #listeners: InformerListeners<T>;
  #synced = false;
  #isAnswered = false;
  #state: "listing" | "following" | "waiting" = "listing";
  /** Resolved at the end of the list in progress. */
  #listEnd: PromiseWithResolvers<void> | undefined;
  /** Everything up to this version was seen; unset requests a list. */
  #resourceVersion: string | undefined;
  #listing = 0;
  /** The latest deletions: the version of each by the object's uid. */
  readonly #deletions = new Map<string, string>();
  #streamsLists = true;
  /** False after a list took longer than the server keeps its history: then it is requested in one piece. */
  #listsInPages = true;
  #pageSize = PAGE_SIZE;
  /** The number of the last complete list. */
  #completed = 0;
  /** The count of the budget when this informer last started over. */
  #exceededCount: number;
  /** Consecutive attempts without any event. */
  #attempts = 0;
  /** The connection state that was last logged. */
  #reported: "fine" | "unserved" | "lost" = "fine";

  constructor(options: InformerOptions<T>) {
    this.kind = options.kind;
    this.openedMs = options.clock.now();
    this.#options = options;
    this.#exceededCount = options.budget?.exceededCount ?? 0;
    this.#covers = options.scope.where ?? (() => true);
    this.#log = options.log.with({
      kind: options.kind.kind,
      group: options.kind.group,
      cluster: options.scope.cluster,
    });
    this.#listeners = new InformerListeners(this.#log);
    // Closing an informer before its initial list is not a failure unless a caller waits for it.
    this.#firstList.promise.then(this.#firstAnswer.resolve, this.#firstAnswer.resolve);
    void this.#firstAnswer.promise.then(() => (this.#isAnswered = true));
    options.onListing(this);
    void this.#run();
  }

  get synced(): boolean {
    return this.#synced;
  }

  get fresh(): boolean {
    return this.#synced && this.#state === "following";
  }

  get isEmpty(): boolean {
    return this.#store.isEmpty;
  }

  get closed(): AbortSignal {
    return this.#options.signal;
  }

  /** Whether a listener subscribes that is not passive. */
  get isObserved(): boolean {
    return this.#listeners.areActive;
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    return abortable(this.#firstList.promise, signal);
  }

  /** Lists again. Resolves when everything that was written before the call is here, or the kind is not served. */
  refresh(signal: AbortSignal): Promise<void> {
    this.#resourceVersion = undefined;
    this.#restart.abort();
    // A list in progress began before the call.
    return this.#lists.until(this.#listing + 1, signal);
  }

  /** The condition of `whenAnswered`. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /**
   * Resolves when the initial list is complete, or the server returned an error such as that it does not serve the
   * kind.
   */
  whenAnswered(signal: AbortSignal): Promise<void> {
    return abortable(this.#firstAnswer.promise, signal);
  }

  isQuiet(): boolean {
    return this.#state !== "listing";
  }

  whenQuiet(signal: AbortSignal): Promise<void> {
    if (this.isQuiet()) return Promise.resolve();
    this.#listEnd ??= Promise.withResolvers();
    return abortable(this.#listEnd.promise, signal);
  }

  #enter(state: "listing" | "following" | "waiting"): void {
    this.#state = state;
    if (state === "listing") return this.#options.onListing(this);
    this.#listEnd?.resolve();
    this.#listEnd = undefined;
  }

  get(key: ObjectKey): DeepReadonly<T> | undefined {
    return this.#store.get(key);
  }

  list(where?: { cluster?: string; namespace?: string }): DeepReadonly<T>[] {
    return this.#store.list(where);
  }

  by(index: string, value: string): DeepReadonly<T>[] {
    return this.#store.by(index, value);
  }

  addIndex(name: string, valuesOf: ValuesOf<T>): void {
    this.#store.addIndex(name, (object, cluster) => {
      try {
        return valuesOf(object, cluster);
      } catch (error) {
        // Objects of custom kinds may have any shape: one that an index function cannot handle must not stop the
        // informer.
        const { namespace, name: objectName } = object.metadata;
        this.#listeners.logOnce(valuesOf, "index failed", {
          index: name,
          objectCluster: cluster,
          namespace,
          name: objectName,
          error,
        });
        return [];
      }
    });
  }

  subscribe(listener: Listener<T>, { isPassive = false } = {}): () => void {
    // Wrapped, so that subscribing the same function twice creates two subscriptions.
    const own: Listener<T> = (event, lane) => listener(event, lane);
    for (const { cluster, object } of this.#store.all())
      this.#listeners.call(own, { cluster, object, deleted: false }, "resync");
    return this.#listeners.add(own, isPassive);
  }

  /**
   * Applies the response to our own write as if its event had already arrived, so that the writer can read it. A
   * response that the watch has overtaken is ignored: the object may have been deleted since.
   */
  note(cluster: string, object: DeepReadonly<T>): void {
    const { namespace, name, uid, resourceVersion = "" } = object.metadata;
    if (
      this.#state !== "following" ||
      this.#resourceVersion === undefined ||
      !isLater(resourceVersion, this.#resourceVersion)
    )
      return;
    const stored = this.#store.find(cluster, namespace, name);
    // The watch resolves another object of that name, in order.
    if (stored && stored.object.metadata.uid !== uid) return;
    try {
      this.#present(cluster, object);
    } catch (error) {
      // The write was carried out. The watch delivers the object too, and reports that it does not fit.
      if (!(error instanceof InformerBudgetError)) throw error;
    }
  }

  async #run(): Promise<void> {
    const { clock, signal } = this.#options;
    // The opener may still add its indexes in this tick.
    await Promise.resolve();
    while (!signal.aborted) {
      if (this.#restart.signal.aborted) {
        this.#restart = new AbortController();
        this.#resourceVersion = undefined;
        this.#attempts = 0;
      }
      const attempts = this.#attempts++;
      const sinceMs = clock.now();
      const failure = await this.#connect().then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      if (signal.aborted) break;
      if (this.#restart.signal.aborted) continue;
      // A long-lived connection was a good one, even without events.
      if (clock.now() - sinceMs >= LAST_RECONNECT_MS) this.#attempts = 0;
      await this.#pause(failure, attempts);
    }
    this.#firstList.reject(
      new FlotillaError(
        "InformerClosed",
        `the informer of ${this.kind.plural} was closed before its initial list was complete`,
      ),
    );
    this.#enter("waiting");
    this.#options.budget?.leave(this);
    this.#listeners.clear();
    for (const stored of this.#store.all()) this.#drop(stored, stored.object);
  }

  /** Returns when the server ends the watch, throws when the connection fails. */
  async #connect(): Promise<void> {
    const { client, scope } = this.#options;
    const signal = AbortSignal.any([this.#options.signal, this.#restart.signal]);
    const { cluster, where } = scope;
    const watched = where && { where };
    if (this.#resourceVersion === undefined) {
      this.#enter("listing");
      this.#options.budget?.begin(this);
      this.#listing++;
      this.#deletions.clear();
      if (this.#streamsLists) {
        for await (const batch of client.watch(this.kind, { cluster, ...watched, sendInitialEvents: true, signal }))
          this.#take(batch);
        return;
      }
      await this.#listInPages(signal);
    }
    this.#enter("following");
    for await (const batch of client.watch(this.kind, {
      cluster,
      ...watched,
      resourceVersion: this.#resourceVersion,
      signal,
    }))
      this.#take(batch);
  }

  async #listInPages(signal: AbortSignal): Promise<void> {
    const { client, scope } = this.#options;
    let token: string | undefined;
    let resourceVersion: string;
    do {
      const page = await client
        .list(this.kind, {
          cluster: scope.cluster,
          limit: this.#listsInPages ? this.#pageSize : undefined,
          continue: token || undefined,
          signal,
        })
        .catch((error: unknown) => {
          if (token && isExpired(error)) this.#listsInPages = false;
          if (error instanceof ResponseLimitError) this.#pageSize = Math.max(MIN_PAGE_SIZE, this.#pageSize >> 2);
          throw error;
        });
      for (const object of page.items) this.#present(scope.cluster, object);
      resourceVersion = page.resourceVersion;
      token = page.continue;
    } while (token);
    this.#listsInPages = true;
    this.#finishList(resourceVersion);
  }

  /** Classifies a lost connection, and waits before the next one. */
  async #pause(failure: { error: unknown } | undefined, attempts: number): Promise<void> {
    const { clock, random, scope, signal } = this.#options;
    const broughtSomething = this.#attempts === 0 && !(failure?.error instanceof InformerBudgetError);
    let lastMs = LAST_RECONNECT_MS;
    this.#startOverIfExceeded();
    if (!failure) {
      if (broughtSomething) return; // Servers end watches every few minutes; that is not a failure.
    } else if (isExpired(failure.error)) {
      this.#resourceVersion = undefined;
      this.#log.debug("history was compacted, listing again");
      if (attempts === 0 || broughtSomething) return;
    } else if (this.#state === "listing" && this.#streamsLists && scope.cluster !== "*" && isInvalid(failure.error)) {
      this.#streamsLists = false;
      this.#log.debug("server does not stream lists, listing in pages");
      return;
    } else if (isNotFound(failure.error)) {
      lastMs = LAST_UNSERVED_MS;
      this.#resourceVersion = undefined;
      this.#options.budget?.leave(this);
      this.#report("unserved", failure.error);
      this.#firstAnswer.resolve();
      this.#lists.ended(Infinity);
    } else {
      this.#report("lost", failure.error);
      // A rejection is an answer too: one unreadable kind must not keep every controller from starting.
      if (failure.error instanceof ApiError) this.#firstAnswer.resolve();
      // The events of this connection are not a reason to connect again soon.
      if (failure.error instanceof InformerBudgetError) this.#attempts = attempts + 1;
    }
    this.#enter("waiting");
    if (failure && isNotFound(failure.error)) this.#options.onUnserved(this);
    const delayMs = Math.min(lastMs, FIRST_RECONNECT_MS * 2 ** (broughtSomething ? 0 : attempts));
    // Half of the delay is random, so that a thousand informers do not reconnect to a restarted server at the same
    // time.
    const ends = AbortSignal.any([signal, this.#restart.signal]);
    try {
      await sleep(clock, delayMs * (0.5 + random.next() / 2), ends);
    } catch (error) {
      if (!ends.aborted) throw error; // Closed or restarted while waiting, which the loop detects itself.
    }
  }

  #report(state: "fine" | "unserved" | "lost", error?: unknown): void {
    if (this.#reported === state) return;
    if (state === "fine") this.#log.info("watching again");
    else if (state === "unserved") this.#log.info("kind is not served yet, retrying until it is", { error });
    else this.#log.warn("watch failed, retrying", { error });
    this.#reported = state;
  }

  #take(batch: readonly WatchEvent<T>[]): void {
    this.#attempts = 0;
    this.#report("fine");
    for (const event of batch) {
      if (event.type === "BOOKMARK") {
        if (event.initialEventsEnd) this.#finishList(event.resourceVersion);
        else if (this.#state === "following") this.#resourceVersion = event.resourceVersion;
        continue;
      }
      if (this.#covers(event.cluster)) {
        if (event.type === "DELETED") this.#vanished(event.cluster, event.object);
        else if (!this.#wasDeletedSince(event.object))
          this.#present(event.cluster, event.object, event.isInitial ?? !this.#synced);
      }
      // During a list, objects are not in version order, so there is no version to resume from yet.
      if (this.#state === "following") this.#advance(event.object.metadata.resourceVersion);
    }
  }

  /** Never backwards: resuming from an earlier version would deliver events again. */
  #advance(resourceVersion: string | undefined): void {
    if (resourceVersion === undefined || isLater(this.#resourceVersion ?? "", resourceVersion)) return;
    this.#resourceVersion = resourceVersion;
  }

  /** An event from before a delivered deletion: it would resurrect the object. */
  #wasDeletedSince({ metadata: { uid, resourceVersion = "" } }: DeepReadonly<T>): boolean {
    const deletion = this.#deletions.size > 0 && uid !== undefined ? this.#deletions.get(uid) : undefined;
    return deletion !== undefined && isLater(deletion, resourceVersion);
  }

  #finishList(resourceVersion: string): void {
    for (const stored of this.#store.all()) if (stored.listing !== this.#listing) this.#drop(stored, stored.object);
    this.#options.budget?.end(this, this.kind);
    this.#completed = this.#listing;
    this.#lists.ended(this.#listing);
    this.#resourceVersion = resourceVersion;
    this.#enter("following");
    this.#attempts = 0;
    this.#report("fine");
    if (this.#synced) return;
    this.#synced = true;
    this.#firstList.resolve();
  }

  #present(cluster: string, object: DeepReadonly<T>, isInitial = !this.#synced): void {
    const { namespace, name, uid, resourceVersion } = object.metadata;
    // A change during the initial list is still fresh.
    const lane: Lane = isInitial && !this.#synced ? "resync" : "fresh";
    let stored = this.#store.find(cluster, namespace, name);
    if (stored && stored.object.metadata.uid !== uid) {
      // The same name, but another object: the deletion of the old one was missed.
      this.#drop(stored, stored.object);
      stored = undefined;
    }
    if (!stored) {
      this.#store.add(cluster, object, this.#listing, this.#charge(object, 0));
      this.#listeners.notify({ cluster, object, deleted: false }, lane);
      return;
    }
    stored.listing = this.#listing;
    const old = stored.object;
    if (old.metadata.resourceVersion === resourceVersion) return;
    // Our own writes may be ahead of the watch. A list is never behind: where it has an older version, the server was
    // rolled back to it.
    if (this.#state !== "listing" && isNewer(old, object)) return;
    stored.bytes = this.#charge(object, stored.bytes);
    this.#store.replace(stored, object);
    this.#listeners.notify({ cluster, object, old, deleted: false }, lane);
  }

  /** The size of an object that replaces one of `before` bytes, or of none; throws if it does not fit. */
  #charge(object: DeepReadonly<T>, before: number): number {
    const { budget } = this.#options;
    if (!budget) return 0;
    const bytes = sizeOf(object);
    const change = { objects: before === 0 ? 1 : 0, bytes: bytes - before };
    budget.charge(this.kind, change);
    return bytes;
  }

  /**
   * After the budget was exceeded: returns to the state of the last complete list and the changes after it, and lists
   * again. A watch that resumed would receive the same event again, before the deletions that may follow it.
   */
  #startOverIfExceeded(): void {
    const { budget } = this.#options;
    if (!budget || budget.exceededCount === this.#exceededCount) return;
    this.#exceededCount = budget.exceededCount;
    this.#resourceVersion = undefined;
    for (const stored of this.#store.all()) if (stored.addedIn > this.#completed) this.#drop(stored, stored.object);
  }

  #vanished(cluster: string, object: DeepReadonly<T>): void {
    const stored = this.#store.find(cluster, object.metadata.namespace, object.metadata.name);
    // A new object of the same name, created by us since then, is already cached; the deletion is not about it.
    const { uid, resourceVersion } = object.metadata;
    if (!stored || stored.object.metadata.uid !== uid) return;
    this.#drop(stored, object);
    if (uid === undefined || resourceVersion === undefined) return;
    this.#deletions.set(uid, resourceVersion);
    const [oldest = ""] = this.#deletions.size > MAX_DELETIONS ? this.#deletions.keys() : [];
    if (oldest !== "") this.#deletions.delete(oldest);
  }

  #drop(stored: Stored<T>, object: DeepReadonly<T>): void {
    const old = stored.object;
    this.#store.remove(stored);
    this.#options.budget?.charge(this.kind, { objects: -1, bytes: -stored.bytes });
    this.#listeners.notify({ cluster: stored.cluster, object, old, deleted: true }, "fresh");
  }
}
