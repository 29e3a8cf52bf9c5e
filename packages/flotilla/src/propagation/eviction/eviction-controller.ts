/**
 * Eviction completes graceful eviction tasks: when the resource is healthy on its new clusters, the old copy may be
 * deleted.
 *
 * Reads: `gracefulEvictionTasks`, `clusters` and the status of a binding; its Works, and those of what it scales.
 * Writes: removes tasks, or sets a missing creationTimestamp; the record of finished moves.
 * Before: failover, schedule or a user added a task, and schedule chose another cluster. After: dispatch deletes the
 * old Work.
 */
import { isConditionTrue } from "@flotilla/apimachinery";
import { clusterNameOf, Work } from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { done, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, RecordedEvent } from "@flotilla/controller-runtime";
import type { DecisionRecorder } from "../../decisions/decision-recorder.ts";
import { describeClusters } from "../../decisions/describe-clusters.ts";
import { bindingKeyOf } from "../bindings/binding-scope.ts";
import type { BindingScope } from "../bindings/binding-scope.ts";
import { defineForBindings } from "../bindings/define-for-bindings.ts";
import { APPLICATION_FAILURE, placeInRow } from "../moves/move-pauses.ts";
import { moveOf, withMoves } from "../moves/move-history.ts";
import type { Ending } from "../moves/move-history.ts";
import { resourceOf } from "../bindings/resource-of.ts";
import { planEvictions, type EvictionsPlan } from "./plan-evictions.ts";
import { scaleTargetsOf } from "./scale-targets.ts";
import type { ScaleTargetViews } from "./scale-targets.ts";
import { MOVES, REPLICAS_LEFT } from "../../flotilla-names.ts";

export interface EvictionDependencies {
  scope: BindingScope;
  client: Client;
  views: ScaleTargetViews;
  events: EventRecorder;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
  /** How long a copy waits for its replacement if the policy does not specify it; defaults to Karmada's 10 minutes. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 600_000;
const ENDINGS: Readonly<Record<Ending, string>> = {
  Replaced: "the resource is healthy on its new clusters",
  TimedOut: "the grace period ended",
  Confirmed: "a user confirmed that the old copy may be deleted",
  Withdrawn: "no other cluster fits any more, so the resource stays",
};

export function createEvictionController({
  scope,
  client,
  views,
  events,
  recorder,
  clock,
  timeoutMs = TIMEOUT_MS,
}: EvictionDependencies): Controller<ObjectKey> {
  const { kind } = scope;
  return defineForBindings({
    stage: "eviction",
    scope,
    concerns: ({ spec }) => Boolean(spec.gracefulEvictionTasks?.length),
    watches: [
      watch(Work, ({ cluster, object, old }) => {
        if (!old || decidesReplicas(old) === decidesReplicas(object)) return [];
        const key = bindingKeyOf(scope, cluster, object);
        return key ? [key] : [];
      }),
    ],

    async reconcile(binding, { key, log, signal }) {
      if (!binding.spec.gracefulEvictionTasks?.length || binding.metadata.deletionTimestamp) return done;
      const nowMs = clock.now();
      const plan = planEvictions(binding, timeoutMs, nowMs, {
        decidesReplicas: new Set(
          views
            .worksOf(binding)
            .filter(decidesReplicas)
            .map(({ metadata }) => clusterNameOf(metadata.namespace ?? "") ?? ""),
        ),
        scaleTargets: scaleTargetsOf(binding, views),
      });
      if (plan.tasks !== binding.spec.gracefulEvictionTasks) {
        // The plan is valid for this version only: if the binding changed meanwhile, it is planned again.
        const written = await unlessChanged(
          client.patch(kind, key, planPatch(binding, plan, nowMs), { type: "merge", signal }),
        );
        if (!written) return done;
        for (const { task, ending } of plan.ended) {
          log.info(ending === "Withdrawn" ? "cluster kept" : "cluster left", { member: task.fromCluster, ending });
          recorder?.record({
            type: "EvictionEnded",
            controller: "eviction",
            object: resourceOf(binding),
            clusters: [task.fromCluster],
            cause: { reason: ending, message: ENDINGS[ending] },
            before: { clusters: describeClusters(binding.spec.clusters), leaving: task.fromCluster },
            after: {
              clusters: describeClusters(binding.spec.clusters),
              [ending === "Withdrawn" ? "stays" : "left"]: task.fromCluster,
            },
          });
          for (const object of [binding, resourceOf(binding)]) {
            events.record(
              key.cluster,
              object,
              ending === "Withdrawn"
                ? withdrawn(task.fromCluster)
                : {
                    type: "Normal",
                    reason: "EvictWorkloadFromClusterSucceed",
                    message: `Evict from cluster ${task.fromCluster} succeed.`,
                  },
            );
          }
        }
      }
      return plan.requeueAfterMs === undefined ? done : { requeueAfterMs: plan.requeueAfterMs };
    },
  });
}

const decidesReplicas = ({ status }: DeepReadonly<Work>): boolean => isConditionTrue(status?.conditions, REPLICAS_LEFT);

function withdrawn(cluster: string): RecordedEvent {
  return {
    type: "Warning",
    reason: "EvictWorkloadFromClusterFailed",
    message: `Evict from cluster ${cluster} failed: no other cluster fits any more, so the resource stays there`,
  };
}

function planPatch(binding: DeepReadonly<ResourceBinding>, { tasks, ended }: EvictionsPlan, nowMs: number): Json {
  const moves = ended.map(({ task, ending }) =>
    moveOf(binding, task, ending, nowMs, task.reason === APPLICATION_FAILURE ? placeInRow(binding, task) : undefined),
  );
  return {
    metadata: {
      resourceVersion: binding.metadata.resourceVersion,
      annotations: moves.length > 0 ? { [MOVES]: withMoves(binding, moves) } : undefined,
    },
    spec: { gracefulEvictionTasks: tasks.length > 0 ? tasks : null },
  } as unknown as Json;
}
