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

/**
 * A source to which kinds can be added at any time, for controllers that watch user-defined kinds. An added kind is
 * never removed.
 */
export interface DynamicSource<K> extends Source<K> {
  add(kind: Kind): void;
}

export function createDynamicSource<K>(
  informers: Informers,
  map: (event: ObjectEvent) => Iterable<K>,
): DynamicSource<K> {
  const sources = new Map<string, Source<K>>();
  let started: { enqueue: (key: K, lane?: Lane) => void; signal: AbortSignal } | undefined;
  return {
    add(kind) {
      const id = `${formatApiVersion(kind.group, kind.storageVersion)}/${kind.plural}`;
      if (sources.has(id) || started?.signal.aborted) return;
      const source = informerSource(informers.of(kind), map);
      sources.set(id, source);
      if (started) source.start(started.enqueue, started.signal);
    },
    start(enqueue, signal) {
      started = { enqueue, signal };
      for (const source of sources.values()) source.start(enqueue, signal);
    },
    isQuiet() {
      for (const source of sources.values()) if (!source.isQuiet()) return false;
      return true;
    },
  };
}
