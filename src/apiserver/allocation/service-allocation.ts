/**
 * Allocates cluster IPs and node ports for Services.
 *
 * Numbers are picked while the object is prepared and promised when it is about to be stored. Both happen in one turn
 * of the event loop, because this is the first plugin that reserves anything. So two Services created concurrently
 * never get the same number, and a dry run, which stores nothing, allocates nothing.
 */
import { heldByService, prepareService } from "../../api/index.ts";
import type { Drawn, Service, ServicePools } from "../../api/index.ts";
import type { DeepReadonly, JsonObject, Random } from "../../base/index.ts";
import type { Cache, CacheEvent } from "../../store/index.ts";
import { writesKind } from "../plugin.ts";
import type { Plugin, PluginRequest } from "../plugin.ts";
import { keyOf } from "../clusters/resources.ts";
import { formatClusterAddress, parseClusterAddress } from "./cluster-addresses.ts";
import type { NumberPool } from "./number-pool.ts";
import { isKept } from "../service-cidr/service-addresses.ts";
import { createServiceHoldings, isStale, NODE_PORTS } from "./service-holdings.ts";

export interface ServiceAllocation {
  readonly plugin: Plugin;
  /** The key of the Service that holds an address, according to the events received so far. */
  holderOf(cluster: string, address: number): string | undefined;
  /** Receives every event of the store, in order. */
  observe(event: CacheEvent): void;
  /** The cluster was removed. */
  forget(cluster: string): void;
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
    plugin: {
      name: "ServiceAllocation",
      group: "",
      concerns: (context, operation) => operation !== "DELETE" && writesKind(context, "", "Service"),
      mutate: ({ context, object, oldObject }) =>
        asObject(prepareService(asService(object), oldObject && asService(oldObject), poolsFor(context.cluster.name))),
      reserve: (request) => Promise.resolve(promiseNumbers(request)),
    },
    holderOf: (cluster, address) => holdings.of(cluster).addresses.holderOf(address),
    observe: holdings.observe,
    forget: holdings.forget,
  };

  /** Marks the numbers that the Service did not hold before as taken, until its event arrives or storing fails. */
  function promiseNumbers({ context, object, oldObject }: PluginRequest): (() => Promise<void>) | undefined {
    const { cluster, served, namespace } = context;
    const service = asService(object);
    const now = heldByService(service);
    const before = oldObject ? heldByService(asService(oldObject)) : { addresses: [], ports: [] };
    const { addresses, ports } = holdings.of(cluster.name);
    const key = keyOf(served.resource, cluster.name, namespace, service.metadata.name);
    const taken: (readonly [NumberPool, number])[] = [];
    for (const address of now.addresses) {
      const number = parseClusterAddress(address);
      if (number !== undefined && !before.addresses.includes(address)) taken.push([addresses, number]);
    }
    for (const port of now.ports) if (!before.ports.includes(port)) taken.push([ports, port]);
    if (taken.length === 0) return undefined;
    for (const [pool, number] of taken) pool.promise(number, key);
    return async () => {
      for (const [pool, number] of taken) pool.withdraw(number, key);
    };
  }
}

const asText = (drawn: Drawn<number>): Drawn<string> =>
  "value" in drawn ? { value: formatClusterAddress(drawn.value) } : drawn;
const asService = (object: DeepReadonly<JsonObject>): DeepReadonly<Service> =>
  object as unknown as DeepReadonly<Service>;
const asObject = (service: object): DeepReadonly<JsonObject> => service as DeepReadonly<JsonObject>;
