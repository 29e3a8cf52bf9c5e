/**
 * Membership keeps a Cluster's status true: whether the member answers, its version, what it serves, its nodes.
 *
 * Reads:  Cluster; on the member its health, version, discovery, Nodes and CustomResourceDefinitions.
 * Writes: Cluster status; nothing else.
 */
import { Cluster, CustomResourceDefinition, Node } from "../api/index.ts";
import { formatTime } from "../base/index.ts";
import type { Clock } from "../base/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";
import { isNotFound } from "../machinery/index.ts";
import { defineController, watch } from "../runtime/index.ts";
import type { Controller, Informers } from "../runtime/index.ts";
import { look } from "./look.ts";
import { planClusterStatus } from "./plan-cluster-status.ts";

/** How often a member is asked when nothing says that it changed. */
const LOOK_EVERY_MS = 30_000;

export interface MembershipDependencies {
  hub: string;
  hubClient: Client;
  /** How to speak to a member; undefined when it is not connected. */
  memberClient(cluster: string): Client | undefined;
  /** The members' objects, keyed by cluster. */
  members: Informers;
  clock: Clock;
}

export function createMembershipController({ hub, hubClient, memberClient, members, clock }: MembershipDependencies): Controller<ObjectKey> {
  const toCluster = ({ cluster }: { cluster: string }): ObjectKey[] => [{ cluster: hub, name: cluster }];
  return defineController({
    name: "membership",
    for: Cluster,
    watches: [watch(Node, toCluster, { informers: members }), watch(CustomResourceDefinition, toCluster, { informers: members })],
    writes: [Cluster],
    concurrency: 16,

    async reconcile(cluster, { key, log, signal }) {
      const client = memberClient(key.name);
      const seen = client ? await look(client, key.name, signal) : ({ reached: false, answered: false, message: "no connection to the cluster; was it joined with valid credentials?" } as const);
      const sighting = seen.reached ? { ...seen, nodes: members.of(Node).list({ cluster: key.name }) } : seen;
      const next = planClusterStatus(cluster, sighting, formatTime(clock.now()));
      if (next !== cluster) {
        try {
          await hubClient.updateStatus(Cluster, hub, next, { signal });
          log.info("cluster status changed", { member: key.name, reached: sighting.reached });
        } catch (error) {
          if (!isNotFound(error)) throw error; // It has left in the meantime.
        }
      }
      return { requeueAfterMs: LOOK_EVERY_MS };
    },
  });
}
