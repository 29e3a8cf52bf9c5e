/** The watches of the fake client: streaming lists, resumption, compaction and lost connections. */
import { expired } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { WatchEvent, WatchOptions } from "@flotilla/client";
import { resourceOf } from "./fake-store.ts";
import type { Change, FakeStore } from "./fake-store.ts";

type Event = WatchEvent<KubernetesObject>;

interface Watcher {
  resource: string;
  options: WatchOptions;
  pending: Event[];
  wake(): void;
  failure?: Error;
}

export interface FakeWatches {
  publish(change: Change): void;
  /** The events of a new watch, until its signal aborts. */
  follow(kind: Kind, options: WatchOptions, store: FakeStore): AsyncGenerator<Event[]>;
  /** Every watcher is up to date. */
  isQuiet(): boolean;
  /** Ends all watches. */
  fail(error: Error): void;
  /** Watches from an earlier revision can no longer resume. */
  compact(revision: number): void;
}

export function createFakeWatches(): FakeWatches {
  const watchers = new Set<Watcher>();
  const history: Change[] = [];
  let compacted = 0;

  function changesFor(watcher: Watcher, after: number): Event[] {
    if (after < compacted) throw expired(`too old resource version: ${after} (${compacted})`);
    return history.filter((change) => change.revision > after && sees(watcher, change)).map(({ event }) => event);
  }

  return {
    publish(change) {
      history.push(change);
      for (const watcher of watchers) {
        if (!sees(watcher, change)) continue;
        watcher.pending.push(change.event);
        watcher.wake();
      }
    },
    isQuiet: () => watchers.values().every(({ pending }) => pending.length === 0),
    fail(error) {
      for (const watcher of watchers) {
        watcher.failure = error;
        watcher.wake();
      }
    },
    compact: (revision) => void (compacted = revision),

    async *follow(kind, options, store) {
      let woken = Promise.withResolvers<void>();
      const watcher: Watcher = { resource: resourceOf(kind), options, pending: [], wake: () => woken.resolve() };
      watcher.pending =
        options.resourceVersion === undefined
          ? initialEvents(kind, options, store)
          : changesFor(watcher, Number(options.resourceVersion));
      watchers.add(watcher);
      options.signal.addEventListener("abort", watcher.wake, { once: true });
      try {
        while (!options.signal.aborted) {
          if (watcher.failure) throw watcher.failure;
          const { pending } = watcher;
          watcher.pending = [];
          if (pending.length) yield pending;
          else {
            await woken.promise;
            woken = Promise.withResolvers();
          }
        }
      } finally {
        watchers.delete(watcher);
        options.signal.removeEventListener("abort", watcher.wake);
      }
    },
  };
}

function initialEvents(kind: Kind, options: WatchOptions, store: FakeStore): Event[] {
  const events: Event[] = store
    .list(kind, options.cluster, options.namespace)
    .map(({ cluster, object }) => ({ type: "ADDED", cluster, object }));
  if (options.sendInitialEvents)
    events.push({ type: "BOOKMARK", resourceVersion: String(store.revision), initialEventsEnd: true });
  return events;
}

function sees({ resource, options }: Watcher, change: Change): boolean {
  const { event } = change;
  return (
    resource === change.resource &&
    (options.cluster === "*" || options.cluster === event.cluster) &&
    (options.namespace === undefined ||
      (event.type !== "BOOKMARK" && options.namespace === event.object.metadata.namespace))
  );
}
