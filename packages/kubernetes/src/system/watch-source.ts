/**
 * Watches a kind in all clusters without caching its objects. An informer caches every object of its kind; there are
 * many ConfigMaps, Secrets and cluster roles, and these controllers need few of them.
 */
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { messageOf, sleep, type Clock, type DeepReadonly, type Log } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { keyOf, type Informer, type Source } from "@flotilla/controller-runtime";

export interface WatchSourceOptions<T extends KubernetesObject, K> {
  client: Client;
  clock: Clock;
  log: Log;
  kind: Kind<T>;
  fieldSelector?: string;
  /** Unset watches all clusters. */
  cluster?: string;
  /** The resourceVersion to start after; unset starts with the existing objects. */
  startAfter?(signal: AbortSignal): Promise<string>;
  map(event: { cluster: string; object: DeepReadonly<T>; deleted: boolean }): Iterable<K>;
  /** The keys to enqueue when changes may have been missed. */
  afterGap(): Iterable<K>;
}

/** The watch is in this process, so it normally ends only if the reader was too slow. */
const RESTART_MS = 500;

export function createWatchSource<T extends KubernetesObject, K>(options: WatchSourceOptions<T, K>): Source<K> {
  const { client, clock, log, kind, fieldSelector, cluster = "*", startAfter, map, afterGap } = options;

  const follow = async (enqueue: (key: K) => void, signal: AbortSignal): Promise<void> => {
    const resourceVersion = await startAfter?.(signal);
    for await (const events of client.watch(kind, { cluster, fieldSelector, resourceVersion, signal })) {
      for (const event of events) {
        if (event.type === "BOOKMARK") continue;
        for (const key of map({ cluster: event.cluster, object: event.object, deleted: event.type === "DELETED" }))
          enqueue(key);
      }
    }
  };
  const run = async (enqueue: (key: K, lane?: "fresh" | "resync") => void, signal: AbortSignal): Promise<void> => {
    for (;;) {
      try {
        await follow(enqueue, signal);
      } catch (error) {
        if (!signal.aborted) log.warn("watch ended, restarting", { kind: kind.kind, error: messageOf(error) });
      }
      await sleep(clock, RESTART_MS, signal);
      for (const key of afterGap()) enqueue(key, "resync");
    }
  };
  return {
    start(enqueue, signal) {
      // Only the signal should end it.
      run(enqueue, signal).catch((error: unknown) => {
        if (!signal.aborted) log.error("watch stopped permanently", { kind: kind.kind, error: messageOf(error) });
      });
    },
    // The server counts events that are written and not delivered yet.
    isQuiet: () => true,
  };
}

/** The keys of all objects of an informer; its lists do not separate clusters. */
export function keysOf<T extends KubernetesObject>(informer: Informer<T>): ObjectKey[] {
  const keys: ObjectKey[] = [];
  const unsubscribe = informer.subscribe(({ cluster, object }) => void keys.push(keyOf(cluster, object)));
  unsubscribe();
  return keys;
}
