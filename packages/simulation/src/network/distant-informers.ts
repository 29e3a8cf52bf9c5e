/**
 * The hub's view of simulated members over the network. A member's own controllers see every change at once; the hub
 * sees a member that is cut off in its state at that time, and the changes when it is back. Only changed objects are
 * kept, so that a cut by itself costs nothing.
 */
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import type { Informer, InformerLifetime, Informers, Lane, ObjectEvent } from "@flotilla/controller-runtime";
import type { MemberNetwork } from "./member-network.ts";

export function createDistantInformers(informers: Informers, network: MemberNetwork): Informers {
  const views = new Map<unknown, Informer<KubernetesObject>>();
  return {
    of<T extends KubernetesObject>(kind: Kind<T>, lifetime?: InformerLifetime): Informer<T> {
      const near = informers.of(kind, lifetime);
      let view = views.get(near);
      if (!view) {
        views.set(near, (view = viewOf(near as unknown as Informer<KubernetesObject>, network)));
        near.closed.addEventListener("abort", () => views.delete(near), { once: true });
      }
      // The view has the same object type as its informer.
      return view as unknown as Informer<T>;
    },
  };
}

type Seen<T> = DeepReadonly<T> | undefined;
type Listener<T> = (event: ObjectEvent<T>, lane: Lane) => void;

function viewOf<T extends KubernetesObject>(near: Informer<T>, network: MemberNetwork): Informer<T> {
  /**
   * By member that is cut off: the last seen state of each object that changed since then; undefined if the object did
   * not exist.
   */
  const kept = new Map<string, Map<string, { key: ObjectKey; seen: Seen<T> }>>();
  const listeners = new Set<Listener<T>>();

  // Subscribed before any listener, so that a notified listener reads the same state.
  near.subscribe(
    ({ cluster, object, old }) => {
      if (!network.isCut(cluster)) return;
      const key = keyOf(cluster, object);
      let changed = kept.get(cluster);
      if (!changed) kept.set(cluster, (changed = new Map()));
      if (!changed.has(idOf(key))) changed.set(idOf(key), { key, seen: old });
    },
    { isPassive: true },
  );
  const forget = network.onChange((cluster, isCut) => {
    const changed = isCut ? undefined : kept.get(cluster);
    if (!changed) return;
    kept.delete(cluster);
    for (const { key, seen } of changed.values()) notify(key, seen, near.get(key));
  });

  near.closed.addEventListener("abort", forget, { once: true });

  function notify({ cluster }: ObjectKey, seen: Seen<T>, now: Seen<T>): void {
    const object = now ?? seen;
    if (!object || now === seen) return;
    for (const listener of listeners)
      listener({ cluster, object, old: seen || undefined, deleted: now === undefined }, "fresh");
  }

  const keptOf = (key: ObjectKey): { seen: Seen<T> } | undefined =>
    kept.size === 0 ? undefined : kept.get(key.cluster)?.get(idOf(key));

  function listed(where: { cluster?: string; namespace?: string } = {}): DeepReadonly<T>[] {
    const objects = near.list(where);
    const hidden = new Set<Seen<T>>();
    const shown: DeepReadonly<T>[] = [];
    for (const [cluster, changed] of kept) {
      if (where.cluster !== undefined && where.cluster !== cluster) continue;
      for (const { key, seen } of changed.values()) {
        hidden.add(near.get(key));
        if (seen && (where.namespace === undefined || where.namespace === key.namespace)) shown.push(seen);
      }
    }
    return [...objects.filter((object) => !hidden.has(object)), ...shown];
  }

  return {
    kind: near.kind,
    closed: near.closed,
    get synced() {
      return near.synced;
    },
    get fresh() {
      return near.fresh;
    },
    get isEmpty() {
      return near.isEmpty && kept.size === 0;
    },
    whenSynced: (signal) => near.whenSynced(signal),
    get(key) {
      const past = keptOf(key);
      return past ? past.seen : near.get(key);
    },
    list: (where) => (kept.size === 0 ? near.list(where) : listed(where)),
    // For a member that is cut off, an index may return newer objects than the view. The prefix avoids collisions with
    // the members' own indexes.
    by: (index, value) => near.by(farName(index), value),
    addIndex: (name, valuesOf) => near.addIndex(farName(name), valuesOf),
    subscribe(listener, options) {
      const own: Listener<T> = (event, lane) => listener(event, lane);
      const stop = near.subscribe((event, lane) => {
        if (!network.isCut(event.cluster)) return own(event, lane);
        // A new listener receives the objects as they were last seen; later changes wait.
        if (listeners.has(own)) return;
        const past = keptOf(keyOf(event.cluster, event.object));
        const object = past ? past.seen : event.object;
        if (object) own({ ...event, object }, lane);
      }, options);
      listeners.add(own);
      return () => {
        listeners.delete(own);
        stop();
      };
    },
    isQuiet: () => near.isQuiet(),
    whenQuiet: (signal) => near.whenQuiet(signal),
  };
}

function keyOf(cluster: string, { metadata: { namespace, name } }: DeepReadonly<KubernetesObject>): ObjectKey {
  return { cluster, namespace, name };
}
const farName = (index: string): string => `distant ${index}`;
const idOf = ({ namespace = "", name }: ObjectKey): string => `${namespace}/${name}`;
