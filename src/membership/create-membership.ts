/** Wires the controllers that look after members to informers and clients of a hub. */
import { Cluster, CustomResourceDefinition } from "../api/index.ts";
import type { Clock, DeepReadonly, Log, Random } from "../base/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";
import type { Controller, Informers, Source } from "../runtime/index.ts";
import { createCapacities } from "./capacities.ts";
import { createMembershipController } from "./controller.ts";
import type { MemberAccess } from "./controller.ts";
import { createProber } from "./prober.ts";
import type { Thresholds } from "./ready.ts";

/** How members are watched; Karmada's defaults. */
export interface MembershipTimes extends Thresholds {
  /** How often a member is asked whether it is well. */
  periodMs: number;
}

export const MEMBERSHIP_TIMES: MembershipTimes = { periodMs: 10_000, successMs: 30_000, failureMs: 30_000 };
/** Real clusters are asked what they serve; simulated ones tell. */
const FACTS_EVERY_MS = 30_000;

export interface MembershipOptions {
  hub: string;
  /** The hub's own objects. */
  informers: Informers;
  clientFor(part: string): Client;
  /** Members in this process: reached by one client, seen by one set of informers. */
  simulated: { client: Client; informers: Informers; isMember(cluster: string): boolean };
  times?: Partial<MembershipTimes>;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface Membership {
  // oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types.
  controllers: Controller<any>[];
  close(): Promise<void>;
}

export function createMembership({ hub, informers, clientFor, simulated, times, clock, random, log }: MembershipOptions): Membership {
  const { periodMs, ...thresholds } = { ...MEMBERSHIP_TIMES, ...times };
  const changes = createChanges(hub);
  const capacities = createCapacities(changes.tell);
  const prober = createProber({ hub, periodMs, factsEveryMs: (cluster) => (simulated.isMember(cluster) ? Number.MAX_SAFE_INTEGER : FACTS_EVERY_MS), clock, random, log });
  const stopWatching = capacities.watch(simulated.informers);
  const stopFollowing = simulated.informers.of(CustomResourceDefinition).subscribe(({ cluster }) => prober.refresh(cluster));

  const accessTo = ({ metadata }: DeepReadonly<Cluster>): MemberAccess =>
    simulated.isMember(metadata.name) ? simulated : { problem: `the cluster has no secretRef, and no simulated cluster is called ${metadata.name}` };
  void informers;
  return {
    controllers: [createMembershipController({ hub, hubClient: clientFor("membership"), accessTo, changes: changes.source, prober, capacities, thresholds, clock })],
    async close() {
      stopWatching();
      stopFollowing();
      prober.close();
    },
  };
}

/** Members of which something is new, told to whoever listens. */
function createChanges(hub: string): { tell(cluster: string): void; source: Source<ObjectKey> } {
  const listeners = new Set<(key: ObjectKey) => void>();
  return {
    tell(cluster) {
      for (const listener of listeners) listener({ cluster: hub, name: cluster });
    },
    source: {
      start(enqueue, signal) {
        const listener = (key: ObjectKey): void => enqueue(key);
        listeners.add(listener);
        signal.addEventListener("abort", () => listeners.delete(listener), { once: true });
      },
      isQuiet: () => true, // Told straight from informers, which answer for themselves.
    },
  };
}
