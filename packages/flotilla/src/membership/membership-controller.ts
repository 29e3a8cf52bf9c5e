/**
 * Keeps a Cluster's status up to date: whether the member answers, its version, the APIs it serves, its capacity and
 * usage.
 *
 * Reads: Cluster; the prober's results, and the Nodes and Pods of the member.
 * Writes: Cluster status only, and only on changes.
 */
import { Cluster } from "@flotilla/karmada";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { findCondition, isNotFound } from "@flotilla/apimachinery";
import { defineController, done } from "@flotilla/controller-runtime";
import type { Controller, Informers, Source } from "@flotilla/controller-runtime";
import type { DecisionRecorder } from "../decisions/decision-recorder.ts";
import type { Capacities } from "./capacities.ts";
import { describeReady } from "./describe-ready.ts";
import { planClusterStatus } from "./plan-cluster-status.ts";
import type { Observation } from "./plan-cluster-status.ts";
import type { Prober } from "./prober.ts";
import { nextTrend } from "./ready.ts";
import type { Thresholds, Trend } from "./ready.ts";

/** Access to a member, or why it cannot be reached. */
export type MemberAccess = { client: Client; /** Its nodes and pods. */ informers: Informers } | { problem: string };

export interface MembershipDependencies {
  hub: string;
  hubClient: Client;
  /** Whether this controller maintains its status; a pull member's agent reports its own. */
  serves(cluster: DeepReadonly<Cluster>): boolean;
  accessTo(cluster: DeepReadonly<Cluster>): MemberAccess;
  /** Emits members whose connection or nodes changed. */
  changes: Source<ObjectKey>;
  prober: Prober;
  capacities: Capacities;
  thresholds: Thresholds;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
}

/** The inputs of a member's last status: unchanged inputs need no new computation. */
interface Made extends Observation {
  cluster: DeepReadonly<Cluster>;
}

export function createMembershipController(deps: MembershipDependencies): Controller<ObjectKey> {
  const { hub, hubClient, serves, accessTo, changes, prober, capacities, thresholds, recorder, clock } = deps;
  const trends = new Map<string, Trend>();
  const made = new Map<string, Made>();

  /** Undefined while the first probe of the member is in flight. */
  function observe(cluster: DeepReadonly<Cluster>): Observation | undefined {
    const { name } = cluster.metadata;
    const access = accessTo(cluster);
    if ("problem" in access) {
      prober.drop(name);
      return { probe: { health: "uncollected", detail: access.problem } };
    }
    prober.follow(name, access.client);
    const sighting = prober.last(name);
    return (
      sighting && {
        ...sighting,
        capacity:
          sighting.probe.health === "ready"
            ? capacities.of(name, cluster.spec.resourceModels, access.informers)
            : undefined,
      }
    );
  }

  return defineController({
    name: "membership",
    for: Cluster,
    watches: [{ source: prober.source() }, { source: changes }],
    writes: [Cluster],
    concurrency: 16,

    async reconcile(cluster, { key, log, signal }) {
      if (!serves(cluster)) {
        forget(key);
        return done;
      }
      const observation = observe(cluster);
      if (!observation) return done;
      const nowMs = clock.now();
      const { health } = observation.probe;
      const before = trends.get(key.name);
      const trend = nextTrend(before, health, nowMs);
      trends.set(key.name, trend);

      const last = made.get(key.name);
      const isSame =
        last?.cluster === cluster &&
        last.probe.health === health &&
        last.unanswered === observation.unanswered &&
        last.facts === observation.facts &&
        last.capacity === observation.capacity;
      const waitMs = pendingMs(cluster, trend, thresholds, nowMs);
      if (isSame && waitMs === undefined) return done;

      const next = planClusterStatus(cluster, observation, { trend, thresholds, nowMs });
      if (next !== cluster) {
        try {
          await hubClient.updateStatus(Cluster, hub, next, { signal });
          log.info("cluster status changed", { member: key.name, health });
          const changed = recorder && describeReady("membership", cluster, next);
          if (changed) recorder.record(changed);
        } catch (error) {
          if (!isNotFound(error)) throw error; // It was deleted in the meantime.
        }
      } else made.set(key.name, { cluster, ...observation });
      return waitMs ? { requeueAfterMs: waitMs } : done;
    },

    forget,
  });

  function forget({ name }: ObjectKey): void {
    trends.delete(name);
    made.delete(name);
    prober.drop(name);
    capacities.forget(name);
  }
}

/** Time until the condition of a member follows its probes; undefined when they agree. */
function pendingMs(
  { status }: DeepReadonly<Cluster>,
  { isReady, sinceMs }: Trend,
  { successMs, failureMs }: Thresholds,
  nowMs: number,
): number | undefined {
  const ready = findCondition(status?.conditions ?? [], "Ready");
  if (!ready || (ready.status === "True") === isReady) return undefined;
  return Math.max(0, sinceMs + (isReady ? successMs : failureMs) - nowMs);
}
