/**
 * Follows a kind in all clusters without keeping its objects. An informer holds everything of its kind; of ConfigMaps,
 * Secrets and cluster roles there are many, and the controllers here care about few.
 */
import type { Kind, KubernetesObject } from "../api/index.ts";
import { messageOf, sleep, type Clock, type DeepReadonly, type Log } from "../base/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";
import { keyOf, type Informer, type Source } from "../runtime/index.ts";

export interface WatchSourceOptions<T extends KubernetesObject, K> {
  client: Client;
  clock: Clock;
  log: Log;
  kind: Kind<T>;
  fieldSelector?: string;
  /** The version to start after; unset starts with what is there. */
  startAfter?(signal: AbortSignal): Promise<string>;
  map(event: { cluster: string; object: DeepReadonly<T>; deleted: boolean }): Iterable<K>;
  /** What to look at when changes may have been missed. */
  afterGap(): Iterable<K>;
}

/** The watch is in this process, so it ends when the reader was too slow and hardly ever else. */
const RESTART_MS = 500;

export function createWatchSource<T extends KubernetesObject, K>(options: WatchSourceOptions<T, K>): Source<K> {
  const { client, clock, log, kind, fieldSelector, startAfter, map, afterGap } = options;

  const follow = async (enqueue: (key: K) => void, signal: AbortSignal): Promise<void> => {
    const resourceVersion = await startAfter?.(signal);
    for await (const events of client.watch(kind, { cluster: "*", fieldSelector, resourceVersion, signal })) {
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
        if (!signal.aborted)
          log.warn("a watch ended and is started again", { kind: kind.kind, error: messageOf(error) });
      }
      await sleep(clock, RESTART_MS, signal);
      for (const key of afterGap()) enqueue(key, "resync");
    }
  };
  return {
    start(enqueue, signal) {
      // The signal ends it, and nothing else should.
      run(enqueue, signal).catch((error: unknown) => {
        if (!signal.aborted)
          log.error("a watch is not followed any more", { kind: kind.kind, error: messageOf(error) });
      });
    },
    // What was written and not yet delivered is counted by the server.
    isQuiet: () => true,
  };
}

/** The keys of everything that an informer has seen; its lists do not tell clusters apart. */
export function keysOf<T extends KubernetesObject>(informer: Informer<T>): ObjectKey[] {
  const keys: ObjectKey[] = [];
  const unsubscribe = informer.subscribe(({ cluster, object }) => void keys.push(keyOf(cluster, object)));
  unsubscribe();
  return keys;
}
