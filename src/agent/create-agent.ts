/**
 * An agent: what a hub does for the members that it reaches, done from the members' side for those that it does not reach. The same
 * stages apply Works and reflect them; the same rules say how a member is; and a Lease says that somebody is there.
 *
 * One agent serves one real cluster over a network, or all simulated members that pull in the process of their hub.
 *
 * Reads:  of the hub its own Works, Clusters and the rules for kinds; of the member what Works name, its nodes and pods.
 * Writes: on the hub the status of Works and Clusters and a Lease; on the member what Works ask for.
 *
 * Without its hub it goes on with what it last heard: Works are still compared with the member and repaired, and nothing is removed,
 * because removing needs a Work that the hub shows as deleted (docs/adr/0018-pull-agents.md).
 */
import { Cluster } from "../api/index.ts";
import type { Clock, DeepReadonly, Log, Random } from "../base/index.ts";
import type { Client } from "../client/index.ts";
import type { Delivery } from "../delivery/index.ts";
import { createConfiguredInterpreter } from "../interpreter/index.ts";
import { createCapacities, createChanges, createLeavingDelivery, createMembershipController, createProber, farewellOf, MEMBERSHIP_TIMES } from "../membership/index.ts";
import type { MembershipTimes } from "../membership/index.ts";
import { createExecution } from "../propagation/index.ts";
import { createEventRecorders, createInformers, createManager, createWriteThroughClient } from "../runtime/index.ts";
import type { Manager } from "../runtime/index.ts";
import { createHubView } from "./hub-view.ts";
import { createLeaseController } from "./lease-controller.ts";
import type { AgentMembers } from "./members.ts";

export interface AgentOptions {
  /** What the hub is called in keys. */
  hub: string;
  /** A client of the hub for one part; its field manager says in an object's metadata who wrote what. */
  clientFor(part: string): Client;
  /** The one member that it serves, whose part of the hub it reads; unset reads everything. */
  only?: string;
  members: AgentMembers;
  times?: Partial<MembershipTimes>;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface Agent {
  manager: Manager;
  /** No write is on its way. */
  isQuiet(): boolean;
  /** Begins; without a hub it waits for it. Resolves when the controllers work. */
  start(signal: AbortSignal): Promise<void>;
  /** What it runs on members stays. */
  stop(): Promise<void>;
}

/** A real cluster is asked what it serves this often; one in this process says so itself. */
const FACTS_EVERY_MS = 30_000;

export function createAgent({ hub, clientFor: plainFor, only, members, times, clock, random, log }: AgentOptions): Agent {
  const { periodMs, ...thresholds } = { ...MEMBERSHIP_TIMES, ...times };
  const client = plainFor("agent");
  const informers = createInformers({ client: only === undefined ? client : createHubView(client, only), clock, random, log, scope: { cluster: hub } });
  const clientFor = (part: string): Client => createWriteThroughClient(plainFor(part), [informers]);
  const events = createEventRecorders({ client: clientFor("events"), clock, log });
  const configured = createConfiguredInterpreter({ hub, informers, clock, random, log, tell: () => {} }); // The hub tells the owner of a script.
  const clusters = informers.of(Cluster);
  const serves = (name: string): boolean => members.serves(name) && clusters.get({ cluster: hub, name })?.spec.syncMode === "Pull";

  const changes = createChanges(hub);
  const capacities = createCapacities(changes.tell);
  const prober = createProber({ hub, periodMs, factsEveryMs: () => (only === undefined ? Number.MAX_SAFE_INTEGER : FACTS_EVERY_MS), clock, random, log });
  const stops = [capacities.watch(members.summary), members.onServed(prober.refresh)];

  const deliveryFor = createDeliveries(members.deliveryFor, (name) => clusters.get({ cluster: hub, name }));
  const execution = createExecution({ hub, informers, clientFor, deliveryFor, serves, interpreter: configured.interpreter, events: events.recorders, clock, random, log });
  const manager = createManager({ client: clientFor("agent"), informers, clock, log: log.with({ part: "agent" }) });
  manager.add(
    ...execution.controllers,
    createMembershipController({ hub, hubClient: clientFor("membership"), serves: ({ metadata }) => serves(metadata.name), accessTo: ({ metadata }) => members.accessTo(metadata.name), changes: changes.source(), prober, capacities, thresholds, clock }),
    createLeaseController({ hub, client: clientFor("lease"), serves, clock, random }),
  );
  return {
    manager,
    isQuiet: () => execution.isQuiet() && events.isQuiet(),
    async start(signal) {
      await configured.whenReady(signal);
      manager.start(signal);
      await manager.whenSynced(signal);
    },
    async stop() {
      await manager.stop();
      for (const stop of stops) stop();
      prober.close();
      await execution.close();
      await events.stop();
      await configured.close();
      informers.close();
    },
  };
}

/** A member that leaves keeps what it runs, as one that the hub reaches does; one wrapper each, since the stages tell members apart by it. */
function createDeliveries(of: (cluster: string) => Delivery | undefined, clusterOf: (name: string) => DeepReadonly<Cluster> | undefined): (cluster: string) => Delivery | undefined {
  const wrapped = new Map<string, { of: Delivery; delivery: Delivery }>();
  return (name) => {
    const delivery = of(name);
    if (!delivery) {
      wrapped.delete(name);
      return undefined;
    }
    const known = wrapped.get(name);
    if (known?.of === delivery) return known.delivery;
    const leaving = createLeavingDelivery(delivery, name, () => {
      const cluster = clusterOf(name);
      return cluster ? farewellOf(cluster) : "stays";
    });
    wrapped.set(name, { of: delivery, delivery: leaving });
    return leaving;
  };
}
