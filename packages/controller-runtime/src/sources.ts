/** Key sources: shared informers, some of them chosen at run time. */
import { formatApiVersion, type Kind, type KubernetesObject } from "@flotilla/apimachinery";
import type { Informer, Informers, Lane, ObjectEvent, Source } from "./runtime-controller.ts";

/** A source based on one informer, which may have another scope than the manager's own. */
export function informerSource<T extends KubernetesObject, K>(
  informer: Informer<T>,
  map: (event: ObjectEvent<T>) => Iterable<K>,
): Source<K> {
  return {
    start(enqueue, signal) {
      if (signal.aborted) return;
      const unsubscribe = informer.subscribe((event, lane) => {
        for (const key of map(event)) enqueue(key, lane);
      });
      signal.addEventListener("abort", unsubscribe, { once: true });
    },
    isQuiet: () => informer.isQuiet(),
  };
}

/** A source to which kinds can be added at any time, for controllers that watch user-defined kinds. */
export interface DynamicSource<K> extends Source<K> {
  add(kind: Kind): void;
  /** For a kind that the server no longer serves: its objects that were not reported as deleted yet are reported so. */
  remove(kind: Kind): void;
}

export function createDynamicSource<K>(
  informers: Informers,
  map: (event: ObjectEvent) => Iterable<K>,
): DynamicSource<K> {
  const kinds = new Map<string, Kind>();
  const subscriptions = new Map<string, { informer: Informer<KubernetesObject>; unsubscribe(): void }>();
  let started: { enqueue: (key: K, lane?: Lane) => void; signal: AbortSignal } | undefined;
  const idOf = (kind: Kind): string => `${formatApiVersion(kind.group, kind.storageVersion)}/${kind.plural}`;

  function take(event: ObjectEvent, lane: Lane): void {
    if (!started?.signal.aborted) for (const key of map(event)) started?.enqueue(key, lane);
  }

  function subscribe(id: string, kind: Kind): void {
    if (!started || started.signal.aborted) return;
    const informer = informers.of<KubernetesObject>(kind, "while-served");
    subscriptions.set(id, { informer, unsubscribe: informer.subscribe(take) });
  }

  function unsubscribe(id: string): Informer<KubernetesObject> | undefined {
    const subscription = subscriptions.get(id);
    subscriptions.delete(id);
    subscription?.unsubscribe();
    return subscription?.informer;
  }

  return {
    add(kind) {
      const id = idOf(kind);
      if (kinds.has(id)) return;
      kinds.set(id, kind);
      subscribe(id, kind);
    },
    remove(kind) {
      const id = idOf(kind);
      kinds.delete(id);
      const informer = unsubscribe(id);
      // A new listener is called with every object that is still there.
      informer?.subscribe(({ cluster, object }) => take({ cluster, object, old: object, deleted: true }, "fresh"))();
    },
    start(enqueue, signal) {
      if (signal.aborted) return;
      started = { enqueue, signal };
      for (const [id, kind] of kinds) subscribe(id, kind);
      signal.addEventListener("abort", () => [...subscriptions.keys()].forEach(unsubscribe), { once: true });
    },
    isQuiet() {
      for (const { informer } of subscriptions.values()) if (!informer.isQuiet()) return false;
      return true;
    },
  };
}
