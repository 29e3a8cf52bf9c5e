/**
 * Allocates cluster IPs and node ports for Services.
 *
 * Numbers are picked while the object is completed and promised when it is about to be stored, if they are still free;
 * otherwise the Service is admitted again. So two Services created concurrently never get the same number, and a dry
 * run, which stores nothing, allocates nothing. On a store that several servers share, numbers are claimed as well.
 */
import { allocatedToService, prepareService, Service } from "@flotilla/kubernetes";
import type { AdmissionStep, Reservation, Review } from "@flotilla/apimachinery";
import type { Allocated as Drawn, ServicePools } from "@flotilla/kubernetes";
import type { Random } from "@flotilla/base";
import type { Cache, CacheEvent } from "../store/cache.ts";
import { writesObject } from "../admission/writes-object.ts";
import { formatClusterAddress, parseClusterAddress } from "./cluster-addresses.ts";
import type { NumberPool } from "./number-pool.ts";
import { isKept } from "./service-addresses.ts";
import { claimNumbers } from "./claimed-numbers.ts";
import type { ClaimedNumbers, ServiceNumber } from "./claimed-numbers.ts";
import { createServiceHoldings, isStale, NODE_PORTS, SERVICES_PREFIX } from "./service-holdings.ts";

export interface ServiceAllocation {
  readonly step: AdmissionStep<Service>;
  /** The key of the Service that holds an address, according to the events received so far. */
  holderOf(cluster: string, address: number): string | undefined;
  /** Receives every event of the store, in order. */
  observe(event: CacheEvent): void;
  /** The cluster was removed. */
  forget(cluster: string): void;
}

/** A number that a Service is about to hold. */
interface Taken extends ServiceNumber {
  pool: NumberPool;
}

const FULL = "range is full";

export function createServiceAllocation({ cache, random }: { cache: Cache; random: Random }): ServiceAllocation {
  const holdings = createServiceHoldings(cache);

  const poolsFor = (cluster: string): ServicePools => {
    const { addresses, ports } = holdings.of(cluster);
    const drawn = new Set<number>();
    const isGood = (number: number): boolean => !drawn.has(number);
    const isGoodAddress = (number: number): boolean =>
      isGood(number) && !isKept(cache, cluster, formatClusterAddress(number));
    const isTaken = (pool: NumberPool, kind: "addresses" | "ports", number: number): boolean => {
      if (drawn.has(number)) return true;
      if (pool.isFree(number)) return false;
      const holder = pool.holderOf(number);
      return holder === undefined || !isStale(cache, holder, kind, number);
    };
    const draw = (number: number | undefined): Drawn<number> => {
      if (number === undefined) return { problem: FULL };
      drawn.add(number);
      return { value: number };
    };
    return {
      address(requested) {
        if (requested === undefined) return asText(draw(addresses.pick(random, isGoodAddress)));
        const number = parseClusterAddress(requested);
        if (number === undefined || !addresses.includes(number))
          return { problem: "the provided network does not match the current range" };
        return isTaken(addresses, "addresses", number) || isKept(cache, cluster, requested)
          ? { problem: "provided IP is already allocated" }
          : asText(draw(number));
      },
      port(requested) {
        if (requested === undefined) return draw(ports.pick(random, isGood));
        if (!ports.includes(requested))
          return {
            problem: `provided port is not in the valid range. The range of valid ports is ${NODE_PORTS.first}-${NODE_PORTS.last}`,
          };
        return isTaken(ports, "ports", requested) ? { problem: "provided port is already allocated" } : draw(requested);
      },
    };
  };

  return {
    step: {
      name: "ServiceAllocation",
      for: Service,
      on: ["CREATE", "UPDATE"],
      matches: writesObject,
      complete: ({ cluster, object, oldObject }) => prepareService(object, oldObject, poolsFor(cluster)),
      reserve: reserveNumbers,
    },
    holderOf: (cluster, address) => holdings.of(cluster).addresses.holderOf(address),
    observe: holdings.observe,
    forget: holdings.forget,
  };

  function isTakenByOther({ pool, kind, number }: Taken, key: string): boolean {
    const promised = pool.promisedTo(number);
    if (promised !== undefined && promised !== key) return true;
    const holder = pool.holderOf(number);
    return holder !== undefined && holder !== key && !isStale(cache, holder, kind, number);
  }

  /** Marks the numbers that the Service did not hold before as taken, until its event arrives or storing fails. */
  async function reserveNumbers(review: Review<Service>): Promise<Reservation | "stale" | undefined> {
    const { cluster, namespace = "", object, oldObject } = review;
    const now = allocatedToService(object);
    const before = oldObject ? allocatedToService(oldObject) : { addresses: [], ports: [] };
    const { addresses, ports } = holdings.of(cluster);
    const key = `${SERVICES_PREFIX}${cluster}/${namespace}/${object.metadata.name}`;
    const taken: Taken[] = [];
    for (const address of now.addresses) {
      const number = parseClusterAddress(address);
      if (number !== undefined && !before.addresses.includes(address))
        taken.push({ pool: addresses, kind: "addresses", number });
    }
    for (const number of now.ports)
      if (!before.ports.includes(number)) taken.push({ pool: ports, kind: "ports", number });
    if (taken.length === 0) return undefined;
    if (taken.some((one) => isTakenByOther(one, key))) return "stale";
    for (const { pool, number } of taken) pool.promise(number, key);
    const release = async (): Promise<void> => {
      for (const { pool, number } of taken) pool.withdraw(number, key);
    };
    if (!cache.isShared) return { release };
    let claimed: ClaimedNumbers | undefined;
    try {
      claimed = await claimNumbers(cache, key, taken);
    } finally {
      if (!claimed) await release();
    }
    if (!claimed) return "stale";
    return {
      guards: [claimed.guard],
      async release() {
        await release();
        await claimed.release();
      },
    };
  }
}

const asText = (drawn: Drawn<number>): Drawn<string> =>
  "value" in drawn ? { value: formatClusterAddress(drawn.value) } : drawn;
