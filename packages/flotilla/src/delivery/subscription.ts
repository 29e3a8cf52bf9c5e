/** A view of some objects on one member: the latest version of each, and a call for every change. */
import type { AnyKind, KindResolver } from "@flotilla/client";
import type { Lane } from "@flotilla/controller-runtime";
import type { ObjectRef, Observation, Subscription } from "./delivery.ts";
import type { Observer } from "./observer.ts";

export function subscribe(
  { cluster, kinds, observer }: { cluster: string; kinds: KindResolver; observer: Observer },
  refs: Iterable<ObjectRef>,
): Subscription {
  const listeners: ((observation: Observation, lane: Lane) => void)[] = [];
  const stops: (() => void)[] = [];
  let closed = false;

  const waiting = new Set(refs);
  /** A manifest may set a namespace on a cluster-scoped object. */
  const placeOf = (
    { namespace, name }: ObjectRef,
    { scope }: AnyKind,
  ): { cluster: string; namespace?: string; name: string } => ({
    cluster,
    namespace: namespace && scope === "Namespaced" ? namespace : undefined,
    name,
  });
  const report = (ref: ObjectRef): void => {
    const kind = kinds.known(ref);
    if (!closed && kind)
      for (const listener of listeners)
        listener({ ref, object: observer.informer(kind).get(placeOf(ref, kind)) }, "resync");
  };

  /** Starts watching resolved kinds and notifies the listener: existing objects were reported before it subscribed. */
  function follow(): void {
    for (const ref of waiting) {
      const kind = kinds.known(ref);
      if (closed || !kind) continue;
      waiting.delete(ref);
      stops.push(
        observer.listen(kind, placeOf(ref, kind), (object, lane = "fresh", old) =>
          listeners.forEach((listener) => listener({ ref, object, old }, lane)),
        ),
      );
      queueMicrotask(() => report(ref));
    }
  }

  follow();
  // A kind that was not resolved on this member yet. If the member does not serve it, apply reports that and resolves
  // it again; a kind found then is watched at the next call.
  for (const ref of waiting) void Promise.allSettled([kinds.resolve(ref)]).then(follow);
  return {
    get(ref) {
      follow();
      const kind = kinds.known(ref);
      return kind && observer.informer(kind).get(placeOf(ref, kind));
    },
    resourceOf: (ref) => kinds.known(ref)?.plural,
    isFresh(ref) {
      follow();
      const kind = kinds.known(ref);
      return kind !== undefined && observer.informer(kind).fresh;
    },
    onChange: (listener) => void listeners.push(listener),
    close() {
      closed = true;
      for (const stop of stops) stop();
    },
  };
}
