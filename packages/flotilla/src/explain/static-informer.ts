/** Exposes a fixed list of objects through the informer interface that the stages use on a running hub. */
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import type { Informer } from "@flotilla/controller-runtime";

/** The cluster part of keys is ignored: a snapshot covers one hub. */
export function createStaticInformer<T extends KubernetesObject>(
  kind: Kind<T>,
  objects: readonly DeepReadonly<T>[],
): Informer<T> {
  const idOf = ({ namespace = "", name }: Pick<ObjectKey, "namespace" | "name">): string => `${namespace}/${name}`;
  const byId = new Map(objects.map((object) => [idOf(object.metadata), object]));
  const indexes = new Map<string, Map<string, DeepReadonly<T>[]>>();
  return {
    kind,
    closed: new AbortController().signal,
    synced: true,
    fresh: true,
    isEmpty: byId.size === 0,
    whenSynced: () => Promise.resolve(),
    isQuiet: () => true,
    whenQuiet: () => Promise.resolve(),
    subscribe: () => () => {},
    get: (key) => byId.get(idOf(key)),
    list: ({ namespace } = {}) =>
      namespace === undefined
        ? [...byId.values()]
        : [...byId.values()].filter(({ metadata }) => metadata.namespace === namespace),
    by: (index, value) => [...(indexes.get(index)?.get(value) ?? [])],
    addIndex(name, valuesOf) {
      const index = new Map<string, DeepReadonly<T>[]>();
      for (const object of byId.values()) {
        for (const value of valuesOf(object, "")) {
          const filed = index.get(value);
          if (filed) filed.push(object);
          else index.set(value, [object]);
        }
      }
      indexes.set(name, index);
    },
  };
}
