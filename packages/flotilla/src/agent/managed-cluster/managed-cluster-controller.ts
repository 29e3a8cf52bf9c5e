/**
 * Reports a member to its hub as Open Cluster Management's agents do: that it joined, its health, version, capacity and
 * claims.
 *
 * Reads: ManagedCluster; the prober's results, and the Nodes and ClusterClaims of the member.
 * Writes: the ManagedCluster's status; only after the hub accepted it, and only on changes.
 */
import { ClusterClaim, ManagedCluster } from "@flotilla/ocm";
import { Node } from "@flotilla/kubernetes";
import { formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { findCondition, isNotFound } from "@flotilla/apimachinery";
import { silent } from "../../ocm/cluster-conditions.ts";
import { nextTrend } from "../../membership/ready.ts";
import type { MemberAccess } from "../../membership/membership-controller.ts";
import type { Prober } from "../../membership/prober.ts";
import type { Trend } from "../../membership/ready.ts";
import { defineController, done } from "@flotilla/controller-runtime";
import type { Controller, Informers, Source } from "@flotilla/controller-runtime";
import type { Rotation } from "../credentials/keep-credentials.ts";
import { planManagedStatus, UNHEALTHY_AFTER_MS } from "./plan-status.ts";

/**
 * How often an agent contradicts a hub that says that its lease has expired. If their clocks differ, the hub says so
 * again at once.
 */
const CONTRADICT_AFTER_MS = 10_000;

export interface ManagedClusterDependencies {
  hub: string;
  client: Client;
  serves(cluster: string): boolean;
  accessTo(cluster: string): MemberAccess;
  /** Distinguishes the clusters of one server. */
  idOf(cluster: string): string;
  prober: Prober;
  /** Members whose nodes or claims changed. */
  changes: Source<ObjectKey>;
  /** Certificate rotation state of this agent; unset if the agent has no certificate. */
  rotation?(): Rotation | undefined;
  clock: Clock;
}

export function createManagedClusterController(deps: ManagedClusterDependencies): Controller<ObjectKey> {
  const { hub, client, serves, accessTo, idOf, prober, changes, rotation, clock } = deps;
  const trends = new Map<string, Trend>();
  /** When an agent last said that a member is available whose lease the hub took for expired. */
  const contradicted = new Map<string, number>();
  return defineController({
    name: "managed-cluster",
    for: ManagedCluster,
    watches: [{ source: prober.source() }, { source: changes }],
    writes: [ManagedCluster],

    async reconcile(cluster, { key: { name }, signal }) {
      if (!serves(name)) return done;
      const access = accessTo(name);
      // The component that opens the connection reports the problem and enqueues the key again.
      if ("problem" in access) return done;
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
      const view = { health, detail, trend, id: idOf(name), version, nodes, claims, rotation: rotated };
      const next = planManagedStatus(cluster, view, nowMs, formatTime(nowMs));
      if (next !== cluster) {
        if (findCondition(cluster.status?.conditions ?? [], silent.type)?.reason === silent.reason) {
          const waitMs = (contradicted.get(name) ?? -Infinity) + CONTRADICT_AFTER_MS - nowMs;
          // A clock that was set back must not make it wait longer.
          if (waitMs > 0 && waitMs <= CONTRADICT_AFTER_MS) return { requeueAfterMs: waitMs };
          contradicted.set(name, nowMs);
        }
        try {
          await client.updateStatus(ManagedCluster, hub, next, { signal });
        } catch (error) {
          if (!isNotFound(error)) throw error; // It was deleted in the meantime.
        }
      }
      const sinceMs = nowMs - trend.sinceMs;
      return trend.isReady || sinceMs >= UNHEALTHY_AFTER_MS ? done : { requeueAfterMs: UNHEALTHY_AFTER_MS - sinceMs };
    },

    forget({ name }) {
      trends.delete(name);
      contradicted.delete(name);
      prober.drop(name);
    },
  });
}

/** Undefined until everything is listed; empty when the member does not serve the kind. */
function listed<T extends Node | ClusterClaim>(
  informers: Informers,
  kind: Parameters<typeof informers.of<T>>[0],
  cluster: string,
): DeepReadonly<T>[] | undefined {
  const informer = informers.of(kind);
  return informer.synced ? informer.list({ cluster }) : undefined;
}
