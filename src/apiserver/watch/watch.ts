/**
 * Watches: what is there, if asked for, and every change after it, in order and without gaps. This is the part that
 * both transports share; `stream.ts` turns it into bytes, `direct-transport.ts` hands out objects.
 */
import { expired } from "../../machinery/index.ts";
import { CompactedError } from "../../store/index.ts";
import type { CachedEntry, CacheEvent } from "../../store/index.ts";
import type { ClusterRegistry, LogicalCluster } from "../clusters/clusters.ts";
import { matchesEntry, waitFor } from "../read/read.ts";
import type { ReadDependencies } from "../read/read.ts";
import { clusterOfKey, prefixOf } from "../clusters/resources.ts";
import type { ServedVersion } from "../clusters/resources.ts";
import { selectionOf } from "../read/selection.ts";
import type { Selection } from "../read/selection.ts";

export interface WatchDependencies extends ReadDependencies {
  clusters: ClusterRegistry;
}

/** A change as a watcher is told. A deletion shows the last state, at the revision of the deletion. */
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
  /** Of all of them, those that are watched. */
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
  /** It follows from now on: until then what it has to tell is not known, and a revision must not be promised. */
  started?(): void;
  /**
   * What is there at the start, in key order. Called once and before anything is told, if at all; `revision` is what it
   * reflects.
   */
  initial(notices: readonly Notice[], revision: number): void;
  /** Watchers that see the same are handed the same array. */
  notify(notices: readonly Notice[]): void;
  /** Nothing will come any more. With an error the client has to list again. */
  end(error?: Error): void;
}

/** Starts a watch and returns what stops it. `served` must be what the target names in its cluster. */
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

/** What a watch waits for before it can start; nearly always nothing. */
function whenReady(deps: WatchDependencies, target: WatchTarget, signal: AbortSignal): Promise<void> | undefined {
  const { resourceVersion = 0, sendInitialEvents } = target;
  // A streaming list must be at least as new as asked for; a plain watch just starts in the future.
  if (sendInitialEvents)
    return resourceVersion <= deps.cache.revision ? undefined : waitFor(deps, resourceVersion, signal);
  // A watch that goes on may go on from before this server was started.
  return deps.cache.recall(startRevision(target, deps.cache.revision));
}

function wantsInitial({ resourceVersion, sendInitialEvents }: WatchTarget): boolean {
  return sendInitialEvents ?? (resourceVersion === undefined || resourceVersion === 0);
}

/** Zero and none ask for no start in particular. */
function startRevision(target: WatchTarget, current: number): number {
  return wantsInitial(target) || !target.resourceVersion ? current : target.resourceVersion;
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
  if (!served) throw expired(`${target.resource}.${group} is not served any more`);
  const selection = selectionOf(served.resource, target.labelSelector, target.fieldSelector);
  const revision = cache.revision;
  const prefix = prefixOf(served.resource, cluster.name, namespace);
  const after = startRevision(target, revision);
  // Whoever goes on from before the cluster was made knows another one of its name, whose bootstrap objects went
  // without events.
  if (after < cluster.revision) throw new CompactedError(after, cluster.revision);
  const selectors = JSON.stringify([target.labelSelector, target.fieldSelector]);
  const unwatch = cache.watch(prefix, after, (events) => {
    const isShared = (events[0]?.revision ?? 0) > after;
    const notices = isShared
      ? sharedNotices(deps, cluster, served, selection, selectors, events)
      : noticesOf(deps, cluster, served, selection, events, after);
    if (notices.length > 0) sink.notify(notices);
  });
  if (wantsInitial(target)) {
    const entries = store
      .list(cluster, served.resource, namespace)
      .filter((entry) => selection.everything || matchesEntry(selection, entry, { served }));
    sink.initial(
      entries.map((entry) => added(cluster, served, entry)),
      revision,
    );
  }
  const onRemoved = (): void => end();
  cluster.removed.addEventListener("abort", onRemoved, { once: true });
  // A definition that changed has another schema: clients list again and see what it means for them.
  const unsubscribe = clusters.subscribe(({ type, cluster: changed }) => {
    if (type === "table" && changed === cluster && find() !== served) end();
  });
  return [unwatch, unsubscribe, () => cluster.removed.removeEventListener("abort", onRemoved)];
}

/**
 * Every logical cluster at once. Clusters that come bring the objects of their profile, those that go take theirs
 * along. A cluster that does not serve the kind is passed over.
 */
function watchAll(deps: WatchDependencies, target: WatchTarget, sink: WatchSink): (() => void)[] {
  const { cache, store, clusters } = deps;
  const { group, version, namespace, where: isWatched = () => true } = target;
  const find = (cluster: LogicalCluster): ServedVersion | undefined =>
    isWatched(cluster.name) ? cluster.table.findStored(group, version, target.resource) : undefined;
  const any = clusters.all().map(find).find(Boolean);
  const prefix = `/${group || "core"}/${target.resource}/`;
  const selections = new Map<ServedVersion["resource"], Selection>();
  const selectionFor = ({ resource }: ServedVersion): Selection => {
    let selection = selections.get(resource);
    if (!selection)
      selections.set(resource, (selection = selectionOf(resource, target.labelSelector, target.fieldSelector)));
    return selection;
  };
  // Selectors are checked now, while somebody listens to the failure.
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
  const tell = (notices: readonly Notice[]): void => {
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
    tell(notices);
  });
  const unsubscribe = clusters.subscribe(({ type, cluster }) => {
    // Objects that a new cluster has written already have events of their own; the deletions of one that is gone have
    // none.
    if (type === "added") tell(present(cluster).filter(({ entry }) => cache.get(entry.key) === undefined));
    if (type === "removed")
      tell(present(cluster).map((notice): Notice => ({ ...notice, type: "DELETED", revision: cache.revision })));
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

/**
 * What was worked out from a batch of events, by selectors, for whoever is told of the same batch next in the same
 * version.
 */
const shared = new Map<ServedVersion, { events: readonly CacheEvent[]; bySelectors: Map<string, readonly Notice[]> }>();

/**
 * The watchers of one prefix are told of one batch one after another, so those that select the same see the very same
 * notices.
 */
function sharedNotices(
  deps: WatchDependencies,
  cluster: LogicalCluster,
  served: ServedVersion,
  selection: Selection,
  selectors: string,
  events: readonly CacheEvent[],
): readonly Notice[] {
  // Forgotten when the batch was told, so that it does not keep what is gone.
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

/** An object that starts to match is added, one that stops to match is deleted. */
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
