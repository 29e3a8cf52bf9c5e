/**
 * The background work of an API server: garbage collection, emptying namespaces, expiry of Events, the addresses of
 * Services, the type checks of policies, the conditions of FlowSchemas, and the APIServices of what the server serves.
 * Each part follows the changes of the store.
 */
import type { Log } from "@flotilla/base";
import { createLocalRegistration } from "./aggregation/local-registration.ts";
import { removeForeignContent } from "./aggregation/namespace-content.ts";
import { createBackground } from "./background/background.ts";
import { createCleanup } from "./background/cleanup.ts";
import { createEventExpiry } from "./background/event-expiry.ts";
import { createGarbageCollector } from "./background/garbage-collection.ts";
import { createForeignGarbage } from "./aggregation/foreign-garbage.ts";
import { createForeignOwners } from "./aggregation/foreign-owners.ts";
import { createFlowSchemaStatus } from "./background/flow-schema-status.ts";
import { createHousekeeping } from "./background/housekeeping.ts";
import type { Housekeeping } from "./background/housekeeping.ts";
import { createControllerLeases } from "./clusters/controller-leases.ts";
import type { ControllerLeases } from "./clusters/controller-leases.ts";
import type { OperationDependencies } from "./serve/operations.ts";
import { createTypeCheckStatus } from "./background/type-check-status.ts";
import { createClaimRemoval } from "./services/claimed-numbers.ts";
import { createServiceAddresses } from "./services/service-addresses.ts";
import type { ServiceAllocation } from "./services/allocation.ts";
import { createEndpointsRemoval } from "./services/endpoints.ts";
import { createDefaultRange } from "./services/ranges.ts";

export interface BackgroundWorkOptions extends OperationDependencies {
  log: Log;
  allocation: ServiceAllocation;
  /** Programs of products that clusters may run themselves, by the namespace and name of their lease. */
  foreignPrograms?: ReadonlyMap<string, string> | undefined;
  /** Aborted when the server stops. */
  signal: AbortSignal;
}

export interface BackgroundWork {
  readonly housekeeping: Housekeeping;
  /** The programs that clusters run themselves. */
  readonly programs: Pick<ControllerLeases, "isHeld" | "onHeld">;
  /** Loads what is stored, and follows the changes. */
  start(): void;
  isQuiet(): boolean;
  close(): Promise<void>;
}

export function createBackgroundWork(options: BackgroundWorkOptions): BackgroundWork {
  const { cache, store, clusters, clock, log, allocation, aggregation } = options;
  const background = createBackground({ clock, log });
  const leases = createControllerLeases({
    clock,
    programs: options.foreignPrograms,
    onLapse(cluster) {
      const content =
        clusters.get(cluster)?.table.resources.flatMap(({ prefix }) => cache.list(`${prefix}${cluster}/`)) ?? [];
      collector.load(content);
      cleanup.load(content);
    },
  });
  const housekeeping = createHousekeeping({ ...options, background, leases });
  const foreignGarbage = createForeignGarbage({
    collector: () => collector,
    remotes: (cluster) => aggregation.remotes(cluster),
    cache,
    isManagedElsewhere: (cluster) => leases.isHeld(cluster),
    clock,
    signal: options.signal,
  });
  const collector = createGarbageCollector({
    housekeeping,
    clusters,
    orphaningElsewhere: (cluster) => foreignGarbage.orphaning(cluster),
  });
  const cleanup = createCleanup({
    housekeeping,
    store,
    clusters,
    clock,
    collector,
    foreignRemoval(cluster) {
      const remotes = aggregation.remotes(cluster);
      if (remotes.length === 0) return undefined;
      return (namespace, signal) => removeForeignContent(remotes, namespace, { clock, signal });
    },
  });
  const foreignOwners = createForeignOwners({
    collector,
    cache,
    remotes: (cluster) => aggregation.remotes(cluster),
    clock,
    signal: options.signal,
  });
  const eventExpiry = createEventExpiry({ housekeeping, cache, clock });
  const addresses = createServiceAddresses({ housekeeping, cache, holderOf: allocation.holderOf });
  const typeChecks = createTypeCheckStatus(housekeeping, clock);
  const flowSchemas = createFlowSchemaStatus({ housekeeping, store, clusters, clock });
  const registration = createLocalRegistration({ housekeeping, store, clusters, clock });
  const followers = [
    leases,
    collector,
    cleanup,
    eventExpiry,
    allocation,
    createEndpointsRemoval(housekeeping),
    addresses,
    createClaimRemoval({ housekeeping, cache }),
    createDefaultRange({ housekeeping, clock }),
    typeChecks,
    flowSchemas,
    registration,
    aggregation,
  ];
  let stopWatching: (() => void) | undefined;
  let unsubscribe: (() => void) | undefined;

  return {
    housekeeping,
    programs: leases,
    start() {
      stopWatching = cache.watch("/", cache.revision, (events) => {
        for (const event of events) for (const follower of followers) follower.observe(event);
      });
      const present = cache.list("/");
      for (const part of [leases, collector, cleanup, eventExpiry, typeChecks, flowSchemas, registration])
        part.load(present);
      addresses.load();
      unsubscribe = clusters.subscribe(({ type, cluster }) => {
        if (type === "table") registration.register(cluster.name);
      });
      aggregation.start(
        (key, change) => housekeeping.rewrite(key, "status", change),
        (cluster) => {
          const work = `garbage collection of ${cluster} with other servers`;
          // In a lane: it waits for servers of one cluster.
          background.enqueue(
            work,
            async () => {
              if (await foreignOwners.settle(cluster)) await foreignGarbage.collect(cluster);
            },
            work,
          );
        },
      );
    },
    isQuiet: () => background.isQuiet(),
    async close() {
      stopWatching?.();
      unsubscribe?.();
      leases.close();
      eventExpiry.close();
      typeChecks.close();
      await background.close();
    },
  };
}
