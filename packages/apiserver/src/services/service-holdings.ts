/**
 * Tracks which Service of a logical cluster holds which address and node port. Derived from the stored Services: loaded
 * when a cluster first needs it and updated from the store's events. Not persisted.
 *
 * Events arrive shortly after the write that they report. A number promised to a Service counts as taken until its
 * event arrives; a number that seems to be held is checked in the store before a request is rejected. So both
 * directions are exact within one process; several API servers on one store also claim their numbers (`claims`).
 */
import { allocatedToService } from "@flotilla/kubernetes";
import type { Service } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { Cache, CachedEntry, CacheEvent } from "../store/cache.ts";
import { isMarker } from "../clusters/objects.ts";
import { knownObject } from "../codec/render.ts";
import { clusterOfKey } from "../resources/resources.ts";
import { parseClusterAddress, SERVICE_ADDRESSES } from "./cluster-addresses.ts";
import { NumberPool } from "./number-pool.ts";
import { addedRanges, RANGES_PREFIX } from "./ranges.ts";

export const SERVICES_PREFIX = "/core/services/";

/** Of 30000 to 32767 the first 86 are kept for explicit requests. */
export const NODE_PORTS = { first: 30000, last: 32767, kept: 86 } as const;

interface Held {
  addresses: readonly number[];
  ports: readonly number[];
}

const NOTHING: Held = { addresses: [], ports: [] };

class ClusterHoldings {
  readonly addresses = new NumberPool(SERVICE_ADDRESSES);
  readonly ports = new NumberPool(NODE_PORTS);
  readonly #byKey = new Map<string, Held>();

  /** Applies what a Service holds now; `entry` is unset when it is deleted. */
  update(key: string, entry: CachedEntry | undefined): void {
    const before = this.#byKey.get(key) ?? NOTHING;
    const now = heldIn(entry);
    for (const number of before.addresses) if (!now.addresses.includes(number)) this.addresses.release(number, key);
    for (const number of before.ports) if (!now.ports.includes(number)) this.ports.release(number, key);
    for (const number of now.addresses) this.addresses.hold(number, key);
    for (const number of now.ports) this.ports.hold(number, key);
    if (now.addresses.length + now.ports.length > 0) this.#byKey.set(key, now);
    else this.#byKey.delete(key);
  }
}

/** The addresses and ports that the entry of a Service holds. */
export function heldIn(entry: CachedEntry | undefined): Held {
  if (!entry || isMarker(entry)) return NOTHING;
  const service = (knownObject(entry) ?? JSON.parse(new TextDecoder().decode(entry.value))) as DeepReadonly<Service>;
  const { addresses, ports } = allocatedToService(service);
  return { addresses: addresses.flatMap((text) => parseClusterAddress(text) ?? []), ports };
}

export interface ServiceHoldings {
  of(cluster: string): ClusterHoldings;
  observe(event: CacheEvent): void;
  /** The cluster was removed; the next caller gets the state stored at that time. */
  forget(cluster: string): void;
}

export function createServiceHoldings(cache: Cache): ServiceHoldings {
  const clusters = new Map<string, ClusterHoldings>();
  return {
    of(cluster) {
      let holdings = clusters.get(cluster);
      if (!holdings) {
        clusters.set(cluster, (holdings = new ClusterHoldings()));
        holdings.addresses.extend(addedRanges(cache, cluster));
        for (const entry of cache.list(`${SERVICES_PREFIX}${cluster}/`)) holdings.update(entry.key, entry);
      }
      return holdings;
    },
    observe({ entry, previous }) {
      const key = (entry ?? previous)?.key ?? "";
      if (key.startsWith(SERVICES_PREFIX)) clusters.get(clusterOfKey(key))?.update(key, entry);
      else if (key.startsWith(RANGES_PREFIX))
        clusters.get(clusterOfKey(key))?.addresses.extend(addedRanges(cache, clusterOfKey(key)));
    },
    forget: (cluster) => void clusters.delete(cluster),
  };
}

/** True when the recorded Service no longer holds the address or port: its event is still pending. */
export function isStale(cache: Cache, key: string, kind: "addresses" | "ports", number: number): boolean {
  const entry = cache.get(key);
  return !entry || !heldIn(entry)[kind].includes(number);
}
