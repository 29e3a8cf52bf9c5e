/**
 * Routes what the informers of the members see to whoever observes that object. One observer serves every member that
 * shares its informers: an event costs one look-up, not one per member or per observed object.
 */
import type { AnyKind } from "../client/index.ts";
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import type { Informer, Informers } from "../runtime/index.ts";

export type ObjectListener = (object: DeepReadonly<KubernetesObject> | undefined) => void;
export interface ObjectPlace {
  cluster: string;
  namespace?: string;
  name: string;
}

export interface Observer {
  informer(kind: AnyKind): Informer<KubernetesObject>;
  /** Calls back with the object after every change of it, and with undefined when it is gone. */
  listen(kind: AnyKind, place: ObjectPlace, listener: ObjectListener): () => void;
}

export function createObserver(informers: Informers): Observer {
  const routes = new Map<string, Map<string, Set<ObjectListener>>>();

  function routesOf(kind: AnyKind): Map<string, Set<ObjectListener>> {
    const id = `${kind.group}/${kind.storageVersion}/${kind.plural}`;
    let listeners = routes.get(id);
    if (!listeners) {
      const byPlace = new Map<string, Set<ObjectListener>>();
      routes.set(id, byPlace);
      informers.of<KubernetesObject>(kind).subscribe(({ cluster, object, deleted }) => {
        const { namespace, name } = object.metadata;
        for (const listener of byPlace.get(placeId({ cluster, namespace, name })) ?? []) listener(deleted ? undefined : object);
      });
      listeners = byPlace;
    }
    return listeners;
  }

  return {
    informer: (kind) => informers.of<KubernetesObject>(kind),
    listen(kind, place, listener) {
      const byPlace = routesOf(kind);
      const id = placeId(place);
      const listeners = byPlace.get(id) ?? new Set();
      byPlace.set(id, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) byPlace.delete(id);
      };
    },
  };
}

function placeId({ cluster, namespace, name }: { cluster: string; namespace?: string | undefined; name: string }): string {
  return `${cluster}/${namespace ?? ""}/${name}`;
}
