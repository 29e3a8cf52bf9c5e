/** Where keys come from: shared informers, some of them chosen while the controller runs. */
import { formatApiVersion, type Kind, type KubernetesObject } from "../api/index.ts";
import type { Informer, Informers, Lane, ObjectEvent, Source } from "./controller.ts";

/** A source that feeds on one informer, which may belong to another scope than the manager's own. */
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
 * A source to which kinds are added at any time, for controllers that watch what users name. A kind stays once it is
 * added.
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
    isQuiet: () => sources.values().every((source) => source.isQuiet()),
  };
}
