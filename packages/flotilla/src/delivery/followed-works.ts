/**
 * Watches the member objects of works of both APIs: one subscription per work for the objects it names, and
 * notifications of their changes by work key. A status update shares the work's spec with the version before, and does
 * not renew the subscription.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { keyOf } from "@flotilla/controller-runtime";
import type { Informer, Lane, Source } from "@flotilla/controller-runtime";
import type { Delivery, ObjectRef, Observation, Subscription } from "./delivery.ts";

export interface FollowedWorks<W> {
  /**
   * Emits the works whose member objects changed. Each controller takes its own source; with `concerns` it receives only
   * the changes for which that returns true.
   */
  source(concerns?: (observation: Observation) => boolean): Source<ObjectKey>;
  /** Undefined when the member has not joined. */
  of(work: DeepReadonly<W>): Subscription | undefined;
}

export interface FollowedWorksOptions<W extends KubernetesObject> {
  hub: string;
  works: Informer<W>;
  deliveryOf(work: DeepReadonly<W>): Delivery | undefined;
  refsOf(work: DeepReadonly<W>): ObjectRef[];
  /** The part of the work that references are read from; unset is the spec. */
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
  const listeners = new Set<(key: ObjectKey, lane: Lane, observation: Observation) => void>();
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
    subscription.onChange((observation, lane) => listeners.forEach((report) => report(key, lane, observation)));
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
    source: (concerns = () => true) => ({
      start(enqueue, signal) {
        const report = (key: ObjectKey, lane: Lane, observation: Observation): void => {
          if (concerns(observation)) enqueue(key, lane);
        };
        listeners.add(report);
        signal.addEventListener("abort", () => listeners.delete(report), { once: true });
      },
      isQuiet: () => true, // Notifications come directly from informers, which report their own pending work.
    }),
    of: follow,
  };
}

const specOf = (work: unknown): unknown => (work as { readonly spec: unknown }).spec;
