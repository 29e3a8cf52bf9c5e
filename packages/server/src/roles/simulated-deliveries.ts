/**
 * Delivers manifests to simulated members, one delivery each: over the simulated network for the hub, directly for the
 * agent of pull-mode members.
 */
import type { Clock } from "@flotilla/base";
import { createKindResolver } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { createDelivery, createObserver } from "@flotilla/flotilla";
import type { Delivery } from "@flotilla/flotilla";
import type { Informers } from "@flotilla/controller-runtime";

export interface SimulatedDeliveries {
  /** Undefined for a cluster that is not a simulated member. */
  of(cluster: string): Delivery | undefined;
  forget(cluster: string): void;
}

export interface SimulatedDeliveriesOptions {
  client: Client;
  informers: Informers;
  isMember(cluster: string): boolean;
  /** The view of a disconnected member is stale, so a missing object means nothing. */
  isCut?(cluster: string): boolean;
  clock: Clock;
}

export function createSimulatedDeliveries(options: SimulatedDeliveriesOptions): SimulatedDeliveries {
  const { client, informers, isMember, isCut = () => false, clock } = options;
  const observer = createObserver(informers);
  const deliveries = new Map<string, Delivery>();

  function open(cluster: string): Delivery {
    const delivery = createDelivery({
      client,
      cluster,
      kinds: createKindResolver({ client, cluster }),
      observer,
      clock,
    });
    return {
      ...delivery,
      observe(refs) {
        const subscription = delivery.observe(refs);
        return { ...subscription, isFresh: (ref) => !isCut(cluster) && subscription.isFresh(ref) };
      },
    };
  }

  return {
    of(cluster) {
      let delivery = deliveries.get(cluster);
      if (!delivery && isMember(cluster)) deliveries.set(cluster, (delivery = open(cluster)));
      return delivery;
    },
    forget: (cluster) => void deliveries.delete(cluster),
  };
}
