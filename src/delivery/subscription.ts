/** A view of some objects on one member: the newest of each, and a call for every change. */
import type { KindResolver } from "../client/index.ts";
import type { ObjectRef, Observation, Subscription } from "./delivery.ts";
import type { Observer } from "./observer.ts";

export function subscribe({ cluster, kinds, observer }: { cluster: string; kinds: KindResolver; observer: Observer }, refs: Iterable<ObjectRef>): Subscription {
  const listeners: ((observation: Observation) => void)[] = [];
  const stops: (() => void)[] = [];
  let closed = false;

  const waiting = new Set(refs);

  /**
   * Follows what can be followed. A kind that the member was never asked about is unknown here; delivering the object makes
   * it known, so whoever reads next finds it followed.
   */
  function follow(): void {
    if (closed) return;
    for (const ref of waiting) {
      const kind = kinds.known(ref);
      if (!kind) continue;
      waiting.delete(ref);
      stops.push(observer.listen(kind, placeOf(ref), (object) => listeners.forEach((listener) => listener({ ref, object }))));
    }
  }
  const placeOf = ({ namespace, name }: ObjectRef): { cluster: string; namespace?: string; name: string } => ({ cluster, ...(namespace && { namespace }), name });

  follow();
  return {
    get(ref) {
      follow();
      const kind = kinds.known(ref);
      return kind && observer.informer(kind).get(placeOf(ref));
    },
    resourceOf: (ref) => kinds.known(ref)?.plural,
    isFresh(ref) {
      follow();
      const kind = kinds.known(ref);
      return kind !== undefined && observer.informer(kind).synced;
    },
    onChange: (listener) => void listeners.push(listener),
    close() {
      closed = true;
      for (const stop of stops) stop();
    },
  };
}
