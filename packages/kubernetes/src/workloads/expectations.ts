/**
 * Writes of a controller that its informer has not shown yet.
 *
 * A reconcile on such a stale cache would create the same pods twice. It waits instead: the pending change triggers the
 * owner when it arrives.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Informer, ObjectEvent } from "@flotilla/controller-runtime";

/**
 * An object can be created and removed before its owner is notified of the two changes. Then nothing arrives, and the
 * wait must end; upstream uses the same timeout.
 */
const EXPECTATION_TIMEOUT_MS = 5 * 60_000;

/** An owner in its member cluster, with its uid: a new owner of the same name starts with no expectations. */
export interface Owner {
  cluster: string;
  uid: string;
}

export interface Expectations {
  /** The object as the server returned it for a create or update by this owner. */
  wrote(owner: Owner, object: DeepReadonly<KubernetesObject>): void;
  /** The server accepted a delete of the object. */
  deleted(owner: Owner, object: DeepReadonly<KubernetesObject>): void;
  /** Maximum milliseconds until the owner may be reconciled; 0 if everything was seen. */
  waitMs(owner: Owner): number;
}

/** The resourceVersion that must be seen; `gone` waits for the removal, or for a deletionTimestamp. */
type Wanted = number | "gone";

export function createExpectations<T extends KubernetesObject>(
  informer: Pick<Informer<T>, "get" | "subscribe">,
  clock: Clock,
): Expectations {
  const owners = new Map<string, { since: number; wanted: Map<string, Wanted> }>();
  const ownerOf = new Map<string, string>();

  const settle = (uid: string, ownerId: string): void => {
    ownerOf.delete(uid);
    const waiting = owners.get(ownerId);
    waiting?.wanted.delete(uid);
    if (waiting?.wanted.size === 0) owners.delete(ownerId);
  };
  const expect = (owner: Owner, { metadata }: DeepReadonly<KubernetesObject>, wanted: Wanted): void => {
    const { name, namespace, uid = "", deletionTimestamp, finalizers = [] } = metadata;
    const seen = informer.get({ cluster: owner.cluster, name, namespace: namespace || undefined });
    // The informer may have been faster than the response.
    const sameObject = seen?.metadata.uid === uid;
    // A write that removes the last finalizer of a terminating object deletes the object.
    const isGone = wanted === "gone" || (deletionTimestamp !== undefined && finalizers.length === 0);
    if (sameObject ? satisfies(seen, wanted) : isGone) return;
    const waiting = owners.get(idOf(owner)) ?? { since: 0, wanted: new Map<string, Wanted>() };
    waiting.since = clock.now();
    waiting.wanted.set(uid, wanted);
    owners.set(idOf(owner), waiting);
    ownerOf.set(uid, idOf(owner));
  };

  informer.subscribe(({ object, deleted }: ObjectEvent<T>) => {
    const uid = object.metadata.uid ?? "";
    const owner = ownerOf.get(uid);
    if (owner === undefined) return;
    const wanted = owners.get(owner)?.wanted.get(uid);
    if (wanted === undefined || deleted || satisfies(object, wanted)) settle(uid, owner);
  });

  return {
    wrote: (owner, object) => expect(owner, object, Number(object.metadata.resourceVersion)),
    deleted: (owner, object) => expect(owner, object, "gone"),
    waitMs(owner) {
      const waiting = owners.get(idOf(owner));
      if (!waiting) return 0;
      const left = waiting.since + EXPECTATION_TIMEOUT_MS - clock.now();
      if (left > 0) return left;
      for (const uid of waiting.wanted.keys()) ownerOf.delete(uid);
      owners.delete(idOf(owner));
      return 0;
    },
  };
}

const idOf = ({ cluster, uid }: Owner): string => `${cluster}/${uid}`;

function satisfies({ metadata }: DeepReadonly<KubernetesObject>, wanted: Wanted): boolean {
  return wanted === "gone" ? metadata.deletionTimestamp !== undefined : Number(metadata.resourceVersion) >= wanted;
}
