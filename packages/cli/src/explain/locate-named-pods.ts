/** Asks members which pods of a workload they have, through the hub's cluster proxy and with the rights of the user. */
import { HUB } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock } from "@flotilla/base";
import { resourcePath } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { podNamesOf } from "@flotilla/flotilla";
import type { LocatePods } from "@flotilla/flotilla";
import { ask } from "../members/ask.ts";
import { askEach } from "../members/each-place.ts";
import { findPlaces } from "../members/members-places.ts";

/** A healthy member responds in a fraction of this. */
const TIMEOUT_MS = 3_000;

export function createLocateNamedPods({
  client,
  clock,
  signal,
}: {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
}): LocatePods {
  return async (owner, clusters) => {
    const { namespace } = owner.metadata;
    const path = resourcePath({ cluster: HUB, group: "", version: "v1", resource: "pods", namespace });
    const places = (await findPlaces(client, [], signal)).filter(({ name }) => clusters.includes(name));
    const found = new Map<string, ReadonlySet<string>>();
    await askEach(places, signal, async (place) => {
      const { items } = (await ask({ client, clock, responseTimeoutMs: TIMEOUT_MS, signal }, place, path)) as {
        items?: KubernetesObject[];
      };
      found.set(place.name, podNamesOf(owner, items ?? []));
    });
    return { found, unasked: clusters.filter((name) => !found.has(name)) };
  };
}
