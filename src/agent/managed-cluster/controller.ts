/**
 * Reports a member to its hub as Open Cluster Management's agents do: that it joined, whether it is well, what it is
 * and what it has.
 *
 * Reads: ManagedCluster; of the member what the prober saw, its Nodes and ClusterClaims.
 * Writes: the ManagedCluster's status; nothing before the hub accepted it, and nothing while nothing changes.
 */
import { ClusterClaim, ManagedCluster, Node } from "../../api/index.ts";
import { formatTime } from "../../base/index.ts";
import type { Clock, DeepReadonly } from "../../base/index.ts";
import type { Client, ObjectKey } from "../../client/index.ts";
import { isNotFound } from "../../machinery/index.ts";
import { nextTrend } from "../../membership/index.ts";
import type { MemberAccess, Prober, Trend } from "../../membership/index.ts";
import { defineController, done } from "../../runtime/index.ts";
import type { Controller, Informers, Source } from "../../runtime/index.ts";
import type { Rotation } from "../credentials/keep-credentials.ts";
import { planManagedStatus, UNWELL_AFTER_MS } from "./plan-status.ts";

export interface ManagedClusterDependencies {
  hub: string;
  client: Client;
  serves(cluster: string): boolean;
  accessTo(cluster: string): MemberAccess;
  /** Tells the clusters of one server apart. */
  idOf(cluster: string): string;
  prober: Prober;
  /** Of members whose nodes changed, or whose claims. */
  changes: Source<ObjectKey>;
  /** How the certificate of this agent is renewed; unset where it has none. */
  rotation?(): Rotation | undefined;
  clock: Clock;
}

export function createManagedClusterController({
  hub,
  client,
  serves,
  accessTo,
  idOf,
  prober,
  changes,
  rotation,
  clock,
}: ManagedClusterDependencies): Controller<ObjectKey> {
  const trends = new Map<string, Trend>();
  return defineController({
    name: "managed-cluster",
    for: ManagedCluster,
    watches: [{ source: prober.source() }, { source: changes }],
    writes: [ManagedCluster],

    async reconcile(cluster, { key: { name }, signal }) {
      if (!serves(name)) return done;
      const access = accessTo(name);
      if ("problem" in access) return done; // Whoever opens the connection says so, and comes back.
      prober.follow(name, access.client);
      const seen = prober.last(name);
      if (!seen) return done;
      const nowMs = clock.now();
      const { health, detail } = seen.probe;
      const trend = nextTrend(trends.get(name), health, nowMs);
      trends.set(name, trend);
      const rotated = rotation?.();
      const version = seen.facts?.version;
      const [nodes, claims] = [listed(access.informers, Node, name), listed(access.informers, ClusterClaim, name)];
      const sight = { health, detail, trend, id: idOf(name), version, nodes, claims, rotation: rotated };
      const next = planManagedStatus(cluster, sight, nowMs, formatTime(nowMs));
      if (next !== cluster) {
        try {
          await client.updateStatus(ManagedCluster, hub, next, { signal });
        } catch (error) {
          if (!isNotFound(error)) throw error; // It has left in the meantime.
        }
      }
      const sinceMs = nowMs - trend.sinceMs;
      return trend.isReady || sinceMs >= UNWELL_AFTER_MS ? done : { requeueAfterMs: UNWELL_AFTER_MS - sinceMs };
    },

    forget({ name }) {
      trends.delete(name);
      prober.drop(name);
    },
  });
}

/** Undefined before everything was listed; a member that does not serve the kind has none. */
function listed<T extends Node | ClusterClaim>(
  informers: Informers,
  kind: Parameters<typeof informers.of<T>>[0],
  cluster: string,
): DeepReadonly<T>[] | undefined {
  const informer = informers.of(kind);
  return informer.synced ? informer.list({ cluster }) : undefined;
}
