/**
 * Watches: the existing objects, if requested, and every change after them, in order and without gaps. Both transports
 * share this part; `serve/watch-stream.ts` serializes it, `serve/direct-transport.ts` returns objects.
 */
import { expired } from "@flotilla/apimachinery";
import { CompactedError } from "../store/errors.ts";
import type { CachedEntry, CacheEvent } from "../store/cache.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { matchesEntry, waitFor } from "../read/read.ts";
import type { ReadDependencies } from "../read/read.ts";
import { nameSelected } from "../access/attributes.ts";
import { clusterOfKey, keyOf, prefixOf } from "../resources/resources.ts";
import type { ServedVersion } from "../resources/resources.ts";
import { selectionOf } from "../read/selection.ts";
import type { Selection } from "../read/selection.ts";

export interface WatchDependencies extends ReadDependencies {
  clusters: ClusterRegistry;
}

/** A change as a watcher sees it. A deletion carries the last state, at the revision of the deletion. */
export interface Notice {
  type: "ADDED" | "MODIFIED" | "DELETED";
  cluster: LogicalCluster;
  served: ServedVersion;
  entry: CachedEntry;
  revision: number;
}

export interface WatchTarget {
  /** One cluster, or all of them. */
  cluster: LogicalCluster | "*";
  /** Selects among all clusters. */
  where?(cluster: string): boolean;
  /** Set for controllers of this server, which may watch a version that is stored and not served. */
  byController?: boolean;
  group: string;
  version: string;
  resource: string;
  namespace?: string;
  labelSelector: string;
  fieldSelector: string;
  resourceVersion: number | undefined;
  sendInitialEvents: boolean | undefined;
}

export interface WatchSink {
  /**
   * The watch follows changes from now on. Before that no bookmark may be sent, because earlier events are not known
   * yet.
   */
  started?(): void;
  /**
   * The existing objects, in key order. Called at most once and before any notification; `revision` is the revision of
   * this state.
   */
  initial(notices: readonly Notice[], revision: number): void;
  /** Watchers of the same selection receive the same array. */
  notify(notices: readonly Notice[]): void;
  /** Events are known that are not delivered yet, because they are being converted. No bookmark may be sent meanwhile. */
  converting?(isConverting: boolean): void;
  /** No more events follow. With an error the client has to list again. */
  end(error?: Error): void;
}

/**
 * Starts a watch and returns the function that stops it. `served` must be the resource that the target names in its
 * cluster.
 */
export function startWatch(
  deps: WatchDependencies,
  target: WatchTarget,
  sink: WatchSink,
  signal: AbortSignal,
): () => void {
  let stopped = false;
  const stops: (() => void)[] = [];
  const stop = (): void => {
    stopped = true;
    for (const undo of stops.splice(0)) undo();
  };
  const end = (error?: Error): void => {
    if (stopped) return;
    stop();
    sink.end(error);
  };
  const begin = (): void => {
    if (stopped) return;
    try {
      stops.push(
        ...(target.cluster === "*" ? watchAll(deps, target, sink) : watchOne(deps, target, target.cluster, sink, end)),
      );
      sink.started?.();
    } catch (error) {
      if (!(error instanceof CompactedError)) return end(error as Error);
      end(expired(`too old resource version: ${target.resourceVersion ?? 0} (${error.oldest})`));
    }
  };
  const ready = whenReady(deps, target, signal);
  if (ready) ready.then(begin, (error: unknown) => end(error as Error));
  else begin();
  return stop;
}

/** The promise that a watch waits for before it can start; nearly always none. */
function whenReady(deps: WatchDependencies, target: WatchTarget, signal: AbortSignal): Promise<void> | undefined {
  const { resourceVersion = 0, sendInitialEvents } = target;
  // A streaming list must be at least as new as requested; a plain watch just starts in the future.
  if (sendInitialEvents) return waitFor(deps, resourceVersion, signal);
  // A resumed watch may continue from before this server was started.
  return deps.cache.recall(startRevision(target, deps.cache.revision));
}

function wantsInitial({ resourceVersion, sendInitialEvents }: WatchTarget): boolean {
  return sendInitialEvents ?? (resourceVersion === undefined || resourceVersion === 0);
}

/** Zero and unset request no particular start. */
function startRevision(target: WatchTarget, current: number): number {
  return wantsInitial(target) || !target.resourceVersion ? current : target.resourceVersion;
}

/** The entries that the selectors may match. A watch of one object, as of a mounted Secret, does not read all of them. */
function candidates(
  { store }: WatchDependencies,
  cluster: LogicalCluster,
  { resource }: ServedVersion,
  { namespace, fieldSelector }: WatchTarget,
): readonly CachedEntry[] {
  const name = nameSelected(fieldSelector);
  if (name === undefined || (namespace === undefined && resource.namespaced))
    return store.list(cluster, resource, namespace);
  const { entry } = store.find(cluster, resource, keyOf(resource, cluster.name, namespace, name));
  return entry ? [entry] : [];
}

function watchOne(
  deps: WatchDependencies,
  target: WatchTarget,
  cluster: LogicalCluster,
  sink: WatchSink,
  end: (error?: Error) => void,
): (() => void)[] {
  const { cache, store, clusters } = deps;
  const { group, version, namespace } = target;
  cluster.removed.throwIfAborted();
  const find = (): ServedVersion | undefined =>
    target.byController
      ? cluster.table.findStored(group, version, target.resource)
      : cluster.table.find(group, version, target.resource);
  const served = find();
  if (!served) throw expired(`${target.resource}.${group} is no longer served`);
  const selection = selectionOf(served.resource, target.labelSelector, target.fieldSelector);
  const revision = cache.revision;
  const prefix = prefixOf(served.resource, cluster.name, namespace);
  const after = startRevision(target, revision);
  // A watch that resumes from before the cluster was created refers to an earlier cluster of the same name, whose
  // bootstrap objects were removed without events.
  if (after < cluster.revision) throw new CompactedError(after, cluster.revision);
  const selectors = JSON.stringify([target.labelSelector, target.fieldSelector]);
  const batches = served.resource.conversion && new ConvertedBatches(deps, { cluster, served, sink, end });
  const unwatch = cache.watch(prefix, after, (events) => {
    if (batches)
      return batches.add(
        events.flatMap((event) => {
          const { entry, previous } = store.resolve(cluster, served.resource, event);
          return selection.everything && entry ? [entry] : [entry, previous];
        }),
        () => {
          const notices = noticesOf(deps, cluster, served, selection, events, after);
          if (notices.length > 0) sink.notify(notices);
        },
      );
    const isShared = (events[0]?.revision ?? 0) > after;
    const notices = isShared
      ? sharedNotices(deps, cluster, served, selection, selectors, events)
      : noticesOf(deps, cluster, served, selection, events, after);
    if (notices.length > 0) sink.notify(notices);
  });
  if (wantsInitial(target)) {
    const listed = candidates(deps, cluster, served, target);
    const deliver = (): void => {
      const entries = listed.filter((entry) => selection.everything || matchesEntry(selection, entry, { served }));
      sink.initial(
        entries.map((entry) => added(cluster, served, entry)),
        revision,
      );
    };
    if (batches) batches.add(listed, deliver);
    else deliver();
  }
  const onRemoved = (): void => end();
  cluster.removed.addEventListener("abort", onRemoved, { once: true });
  // A changed CRD has another schema: clients have to list again.
  const unsubscribe = clusters.subscribe(({ type, cluster: changed }) => {
    if (type === "table" && changed === cluster && find() !== served) end();
  });
  return [unwatch, unsubscribe, () => batches?.close(), () => cluster.removed.removeEventListener("abort", onRemoved)];
}

interface ConvertedTarget {
  readonly cluster: LogicalCluster;
  readonly served: ServedVersion;
  readonly sink: WatchSink;
  readonly end: (error?: Error) => void;
}

/** Delivers events of a kind that a webhook converts: in order, each batch when its objects are converted. */
class ConvertedBatches {
  readonly #deps: WatchDependencies;
  readonly #target: ConvertedTarget;
  readonly #waiting: { entries: readonly (CachedEntry | undefined)[]; deliver(): void }[] = [];
  readonly #closed = new AbortController();
  #entries = 0;
  #isRunning = false;

  constructor(deps: WatchDependencies, target: ConvertedTarget) {
    this.#deps = deps;
    this.#target = target;
  }

  add(entries: readonly (CachedEntry | undefined)[], deliver: () => void): void {
    this.#waiting.push({ entries, deliver });
    this.#entries += entries.length;
    if (this.#isRunning) {
      // The first batch may be a list of any length.
      if (this.#waiting.length > 1 && this.#entries > MAX_UNCONVERTED)
        this.#target.end(expired("the watch lagged too far behind its conversion webhook; list again"));
      return;
    }
    this.#isRunning = true;
    this.#target.sink.converting?.(true);
    void this.#run();
  }

  close(): void {
    this.#closed.abort(new Error("the watch has ended"));
    this.#waiting.length = 0;
  }

  async #run(): Promise<void> {
    const { cluster, served, sink, end } = this.#target;
    const { signal } = this.#closed;
    try {
      for (let batch; (batch = this.#waiting.shift());) {
        this.#entries -= batch.entries.length;
        await this.#deps.conversions.prepare(cluster, served, batch.entries, signal);
        if (signal.aborted) return;
        batch.deliver();
      }
      this.#isRunning = false;
      sink.converting?.(false);
    } catch (error) {
      if (!signal.aborted) end(error as Error);
    }
  }
}

/** Events that wait for a conversion webhook; beyond it the client has to list again. */
const MAX_UNCONVERTED = 10_000;

/**
 * Watches all logical clusters. An added cluster adds the objects of its profile, a removed one deletes its objects.
 * Clusters that do not serve the kind are skipped.
 */
function watchAll(deps: WatchDependencies, target: WatchTarget, sink: WatchSink): (() => void)[] {
  const { cache, store, clusters } = deps;
  const { group, version, namespace, where: isWatched = () => true } = target;
  const find = (cluster: LogicalCluster): ServedVersion | undefined => {
    const served = isWatched(cluster.name) ? cluster.table.findStored(group, version, target.resource) : undefined;
    // Where a webhook converts the objects, the definition is another product's; its objects are not ours to watch.
    return served?.resource.conversion && !served.isStorage ? undefined : served;
  };
  const any = clusters.all().map(find).find(Boolean);
  const prefix = `/${group || "core"}/${target.resource}/`;
  const selections = new Map<ServedVersion["resource"], Selection>();
  const selectionFor = ({ resource }: ServedVersion): Selection => {
    let selection = selections.get(resource);
    if (!selection)
      selections.set(resource, (selection = selectionOf(resource, target.labelSelector, target.fieldSelector)));
    return selection;
  };
  // Selectors are checked now, while the caller can receive the error.
  if (any) selectionFor(any);

  const present = (cluster: LogicalCluster): Notice[] => {
    const served = find(cluster);
    if (!served) return [];
    const selection = selectionFor(served);
    const entries = store.list(cluster, served.resource, namespace);
    return entries
      .filter((entry) => selection.everything || matchesEntry(selection, entry, { served }))
      .map((entry) => added(cluster, served, entry));
  };
  const deliver = (notices: readonly Notice[]): void => {
    if (notices.length > 0) sink.notify(notices);
  };
  const revision = cache.revision;
  const after = startRevision(target, revision);
  const unwatch = cache.watch(prefix, after, (events) => {
    const notices: Notice[] = [];
    for (const event of events) {
      if (event.revision <= after) continue;
      const key = (event.entry ?? event.previous)?.key ?? "";
      const cluster = clusters.get(clusterOfKey(key));
      const served = cluster && find(cluster);
      if (
        !cluster ||
        !served ||
        (namespace !== undefined && !key.startsWith(prefixOf(served.resource, cluster.name, namespace)))
      )
        continue;
      addNotice(deps, cluster, served, selectionFor(served), event, notices);
    }
    deliver(notices);
  });
  const unsubscribe = clusters.subscribe(({ type, cluster }) => {
    // Objects that a new cluster has already written have their own events; the deletions of a removed cluster have
    // none.
    if (type === "added") deliver(present(cluster).filter(({ entry }) => cache.get(entry.key) === undefined));
    if (type === "removed")
      deliver(present(cluster).map((notice): Notice => ({ ...notice, type: "DELETED", revision: cache.revision })));
  });
  if (wantsInitial(target)) sink.initial(clusters.all().flatMap(present), revision);
  return [unwatch, unsubscribe];
}

const added = (cluster: LogicalCluster, served: ServedVersion, entry: CachedEntry): Notice => ({
  type: "ADDED",
  cluster,
  served,
  entry,
  revision: entry.revision,
});

/** The notices of a batch of events, by selectors, for other watchers of the same batch in the same version. */
const shared = new Map<ServedVersion, { events: readonly CacheEvent[]; bySelectors: Map<string, readonly Notice[]> }>();

/**
 * The watchers of one prefix are notified of one batch one after another, so those with the same selectors share the
 * same notices.
 */
function sharedNotices(
  deps: WatchDependencies,
  cluster: LogicalCluster,
  served: ServedVersion,
  selection: Selection,
  selectors: string,
  events: readonly CacheEvent[],
): readonly Notice[] {
  // Cleared after the batch was delivered, so that it does not retain deleted objects.
  if (shared.size === 0) queueMicrotask(() => shared.clear());
  let known = shared.get(served);
  if (known?.events !== events) shared.set(served, (known = { events, bySelectors: new Map() }));
  let notices = known.bySelectors.get(selectors);
  if (!notices) known.bySelectors.set(selectors, (notices = noticesOf(deps, cluster, served, selection, events, 0)));
  return notices;
}

function noticesOf(
  deps: WatchDependencies,
  cluster: LogicalCluster,
  served: ServedVersion,
  selection: Selection,
  events: readonly CacheEvent[],
  after: number,
): Notice[] {
  const notices: Notice[] = [];
  for (const event of events) if (event.revision > after) addNotice(deps, cluster, served, selection, event, notices);
  return notices;
}

/** An object that starts to match is added; one that stops matching is deleted. */
function addNotice(
  { store }: WatchDependencies,
  cluster: LogicalCluster,
  served: ServedVersion,
  selection: Selection,
  event: CacheEvent,
  notices: Notice[],
): void {
  const { entry, previous } = store.resolve(cluster, served.resource, event);
  const { revision } = event;
  const matches = (candidate: CachedEntry | undefined): candidate is CachedEntry =>
    candidate !== undefined && (selection.everything || matchesEntry(selection, candidate, { served }));
  const isNow = matches(entry);
  const was = matches(previous);
  if (isNow) notices.push({ type: was ? "MODIFIED" : "ADDED", cluster, served, entry, revision });
  else if (was) notices.push({ type: "DELETED", cluster, served, entry: previous, revision });
}
