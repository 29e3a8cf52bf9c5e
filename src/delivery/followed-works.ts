/**
 * The members' side of works, of either API: a subscription for each work to the objects that it names, and the news
 * that one of them changed, by the work's key. A work whose status changed shares its spec with the one before, and
 * needs no second look.
 */
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import type { ObjectKey } from "../client/index.ts";
import { keyOf } from "../runtime/index.ts";
import type { Informer, Lane, Source } from "../runtime/index.ts";
import type { Delivery, ObjectRef, Subscription } from "./delivery.ts";

export interface FollowedWorks<W> {
  /** Says which works to look at because of their members' objects. Each controller takes its own. */
  source(): Source<ObjectKey>;
  /** Undefined when the member has not joined. */
  of(work: DeepReadonly<W>): Subscription | undefined;
}

export interface FollowedWorksOptions<W extends KubernetesObject> {
  hub: string;
  works: Informer<W>;
  deliveryOf(work: DeepReadonly<W>): Delivery | undefined;
  refsOf(work: DeepReadonly<W>): ObjectRef[];
  /** What the references are read from; unset is the spec. */
  basisOf?(work: DeepReadonly<W>): unknown;
}

interface Followed {
  basis: unknown;
  refs: string;
  delivery: Delivery;
  subscription: Subscription;
}

export function followWorks<W extends KubernetesObject & { spec: unknown }>({
  hub,
  works,
  deliveryOf,
  refsOf,
  basisOf = specOf,
}: FollowedWorksOptions<W>): FollowedWorks<W> {
  const followed = new Map<string, Followed>();
  const listeners = new Set<(key: ObjectKey, lane: Lane) => void>();
  const idOf = ({ metadata }: DeepReadonly<KubernetesObject>): string => `${metadata.namespace}/${metadata.name}`;

  function follow(work: DeepReadonly<W>): Subscription | undefined {
    const id = idOf(work);
    const present = followed.get(id);
    const delivery = deliveryOf(work);
    if (present && present.delivery === delivery) {
      if (present.basis === basisOf(work)) return present.subscription;
      if (present.refs === JSON.stringify(refsOf(work))) {
        present.basis = basisOf(work);
        return present.subscription;
      }
    }
    present?.subscription.close();
    followed.delete(id);
    if (!delivery) return undefined;
    const refs = refsOf(work);
    const subscription = delivery.observe(refs);
    const key = keyOf(hub, work);
    subscription.onChange((_, lane) => listeners.forEach((tell) => tell(key, lane)));
    followed.set(id, { basis: basisOf(work), refs: JSON.stringify(refs), delivery, subscription });
    return subscription;
  }

  works.subscribe(({ object, deleted }) => {
    if (!deleted) follow(object);
    else {
      followed.get(idOf(object))?.subscription.close();
      followed.delete(idOf(object));
    }
  });

  return {
    source: () => ({
      start(enqueue, signal) {
        const tell = (key: ObjectKey, lane: Lane): void => enqueue(key, lane);
        listeners.add(tell);
        signal.addEventListener("abort", () => listeners.delete(tell), { once: true });
      },
      isQuiet: () => true, // News come straight from the informers, which answer for themselves.
    }),
    of: follow,
  };
}

const specOf = (work: unknown): unknown => (work as { readonly spec: unknown }).spec;
