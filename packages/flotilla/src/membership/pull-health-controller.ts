/**
 * Detects members whose agent stopped reporting.
 *
 * Reads: pull-mode Clusters, their Leases in `karmada-cluster`.
 * Writes: the condition `Ready` of the Cluster, only as Unknown; the agent owns the rest of the status.
 */
import { Cluster, KARMADA_CLUSTER_NAMESPACE } from "@flotilla/karmada";
import { Lease } from "@flotilla/kubernetes";
import { withCondition } from "@flotilla/apimachinery";
import { formatTime } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineController, done, watch } from "@flotilla/controller-runtime";
import type { Controller, Lister } from "@flotilla/controller-runtime";
import type { DecisionRecorder } from "../decisions/decision-recorder.ts";
import { describeReady } from "./describe-ready.ts";
import { nextHeartbeat, planPullHealth, PULL_TIMES } from "./plan-pull-health.ts";
import type { Heartbeat, PullTimes } from "./plan-pull-health.ts";

export interface PullHealthDependencies {
  hub: string;
  client: Client;
  leases: Lister<Lease>;
  times?: PullTimes;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
}

export function createPullHealthController(deps: PullHealthDependencies): Controller<ObjectKey> {
  const { hub, client, leases, times = PULL_TIMES, recorder, clock } = deps;
  const heartbeats = new Map<string, Heartbeat>();
  return defineController({
    name: "pull-health",
    for: Cluster,
    watches: [
      watch(Lease, ({ cluster, object: { metadata } }) =>
        metadata.namespace === KARMADA_CLUSTER_NAMESPACE ? [{ cluster, name: metadata.name }] : [],
      ),
    ],
    writes: [Cluster],

    async reconcile(cluster, { key, log, signal }) {
      if (cluster.spec.syncMode !== "Pull") {
        heartbeats.delete(key.name);
        return done;
      }
      const nowMs = clock.now();
      const heartbeat = nextHeartbeat(
        heartbeats.get(key.name),
        cluster,
        leases.get({ cluster: hub, namespace: KARMADA_CLUSTER_NAMESPACE, name: key.name })?.spec?.renewTime,
        nowMs,
      );
      heartbeats.set(key.name, heartbeat);
      const { condition, waitMs } = planPullHealth(cluster, heartbeat, times, nowMs);
      if (condition) {
        const next = {
          ...cluster,
          status: {
            ...cluster.status,
            conditions: [...withCondition(cluster.status?.conditions ?? [], condition, formatTime(nowMs))],
          },
        };
        await client.updateStatus(Cluster, hub, next, { signal });
        const changed = recorder && describeReady("pull-health", cluster, next);
        if (changed) recorder.record(changed);
        log.info("agent stopped reporting", { member: key.name, sinceMs: nowMs - heartbeat.atMs });
      }
      return waitMs === undefined ? done : { requeueAfterMs: waitMs };
    },

    forget: ({ name }) => void heartbeats.delete(name),
  });
}
