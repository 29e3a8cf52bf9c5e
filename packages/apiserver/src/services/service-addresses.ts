/**
 * Maintains an IPAddress for every address that a Service holds. Allocation depends on the Services alone, so
 * IPAddresses are written shortly afterwards and cost the writer of a Service nothing. An IPAddress created by another
 * client keeps its address from Services.
 */
import { addressOfService, isAllocated } from "@flotilla/kubernetes";
import type { IPAddress } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { Cache, CachedEntry, CacheEvent } from "../store/cache.ts";
import type { Housekeeping } from "../background/housekeeping.ts";
import { isMarker } from "../clusters/objects.ts";
import { clusterOfKey } from "../resources/resources.ts";
import { knownObject } from "../codec/render.ts";
import { metadataOf } from "../codec/metadata.ts";
import { textOf } from "../codec/text.ts";
import { formatClusterAddress, parseClusterAddress, SERVICE_ADDRESSES } from "./cluster-addresses.ts";
import { heldIn, SERVICES_PREFIX } from "./service-holdings.ts";

const ADDRESSES_PREFIX = "/networking.k8s.io/ipaddresses/";

/** Whether an IPAddress created by another client keeps the address from Services. */
export function isKept(cache: Cache, cluster: string, address: string): boolean {
  const entry = cache.get(`${ADDRESSES_PREFIX}${cluster}/${address}`);
  return entry !== undefined && !isMarker(entry) && !isAllocated(readAddress(entry));
}

const readAddress = (entry: CachedEntry): DeepReadonly<IPAddress> =>
  (knownObject(entry) ?? JSON.parse(new TextDecoder().decode(entry.value))) as DeepReadonly<IPAddress>;

export interface ServiceAddresses {
  /** Looks for Services without an IPAddress when the server starts. */
  load(): void;
  /** Receives every event of the store, after the allocation. */
  observe(event: CacheEvent): void;
}

interface Dependencies {
  housekeeping: Pick<Housekeeping, "enqueue" | "find" | "create" | "remove">;
  cache: Cache;
  holderOf(cluster: string, address: number): string | undefined;
}

export function createServiceAddresses({ housekeeping, cache, holderOf }: Dependencies): ServiceAddresses {
  const settle = async (cluster: string, number: number): Promise<void> => {
    const address = formatClusterAddress(number);
    const key = `${ADDRESSES_PREFIX}${cluster}/${address}`;
    const holder = holderOf(cluster, number);
    const found = housekeeping.find(key)?.object;
    const parent = holder === undefined ? undefined : parentOf(holder);
    if (found) {
      const stored = found as unknown as DeepReadonly<IPAddress>;
      if (!isAllocated(stored) || (parent && isParent(stored, parent))) return;
      await housekeeping.remove(key, textOf(metadataOf(found).uid), undefined);
    }
    if (parent) await housekeeping.create(key, addressOfService(address, parent));
  };
  const enqueue = (cluster: string, number: number): void => {
    // The IPAddress of the API server's own Service is part of the cluster's profile, like the Service.
    if (number !== SERVICE_ADDRESSES.reserved)
      housekeeping.enqueue(`address ${cluster}/${number}`, () => settle(cluster, number));
  };

  return {
    load() {
      for (const entry of cache.list(SERVICES_PREFIX)) {
        const cluster = clusterOfKey(entry.key);
        for (const number of heldIn(entry).addresses)
          if (!cache.get(`${ADDRESSES_PREFIX}${cluster}/${formatClusterAddress(number)}`)) enqueue(cluster, number);
      }
    },
    observe({ entry, previous }) {
      const key = (entry ?? previous)?.key ?? "";
      if (key.startsWith(SERVICES_PREFIX)) {
        const { addresses: now } = heldIn(entry);
        const { addresses: before } = heldIn(previous);
        for (const number of now) if (!before.includes(number)) enqueue(clusterOfKey(key), number);
        for (const number of before) if (!now.includes(number)) enqueue(clusterOfKey(key), number);
      } else if (key.startsWith(ADDRESSES_PREFIX) && (!entry || isMarker(entry))) {
        const number = parseClusterAddress(key.slice(key.lastIndexOf("/") + 1));
        if (number !== undefined) enqueue(clusterOfKey(key), number);
      }
    },
  };
}

function parentOf(serviceKey: string): { namespace: string; name: string } {
  const [namespace = "", name = ""] = serviceKey.split("/").slice(-2);
  return { namespace, name };
}

function isParent(
  { spec }: DeepReadonly<IPAddress>,
  { namespace, name }: { namespace: string; name: string },
): boolean {
  const { parentRef } = spec ?? {};
  return (
    !parentRef?.group &&
    parentRef?.resource === "services" &&
    parentRef.namespace === namespace &&
    parentRef.name === name
  );
}
