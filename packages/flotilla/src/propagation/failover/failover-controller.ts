/**
 * Failover evicts a resource from a member on which its application stays unhealthy, or whose taints it does not
 * tolerate. Only bindings whose policy enables failover are processed, and those on a member that is drained.
 *
 * Reads: binding, Cluster.
 * Writes: adds `gracefulEvictionTasks`; the annotation with the time since when members are unhealthy.
 * Before: aggregate reported health, membership or a user tainted a cluster. After: schedule selects another cluster,
 * and eviction ends the task when the resource is healthy there.
 */
import { Cluster } from "@flotilla/karmada";
import type { GracefulEvictionTask } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { ResourceBinding } from "@flotilla/karmada";
import { equalJson, type Clock, type DeepReadonly, type Json, defined } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { done, idOfKey, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informer, Lister } from "@flotilla/controller-runtime";
import type { DecisionRecorder } from "../../decisions/decision-recorder.ts";
import { describeClusters } from "../../decisions/describe-clusters.ts";
import type { BindingScope } from "../bindings/binding-scope.ts";
import { defineForBindings } from "../bindings/define-for-bindings.ts";
import { resourceOf } from "../bindings/resource-of.ts";
import { createFleet } from "../schedule/fleet-view.ts";
import type { ScheduleOptions } from "../schedule/schedule-cycle.ts";
import { noExecuteTaints } from "../schedule/tolerations.ts";
import type { WorkloadGroups } from "../schedule/workload-groups.ts";
import type { Departure } from "./departure.ts";
import { createPace } from "./failover-pace.ts";
import {
  parseSince,
  planApplicationFailover,
  planSinceRecord,
  WELL,
  type UnhealthySince,
} from "./plan-application-failover.ts";
import { planDepartures } from "./plan-departures.ts";
import type { DeparturePlan } from "./plan-departures.ts";
import { isDraining, planClusterFailover, type UnaskedEviction } from "./plan-cluster-failover.ts";
import { createStuck } from "./blocked-bindings.ts";
import { UNHEALTHY_SINCE } from "../../flotilla-names.ts";

export interface FailoverOptions {
  /** Whether NoExecute taints also move resources whose policy does not configure cluster failover; off by default. */
  unasked?: UnaskedEviction;
  /** Evictions from tainted clusters per second; defaults to Karmada's 0.5. */
  evictionsPerSecond?: number;
  /**
   * How long a copy waits for its replacement if the policy does not specify it; defaults to Karmada's 10 minutes. Used
   * by `eviction`.
   */
  evictionTimeoutMs?: number;
}

export interface FailoverDependencies {
  scope: BindingScope;
  client: Client;
  bindings: Informer<ResourceBinding>;
  clusters: Lister<Cluster>;
  /** Groups of the bindings of this scope. */
  groups: Pick<WorkloadGroups, "neighboursOf" | "affectedBy">;
  /** Scheduler options that differ from the defaults. */
  scheduling: ScheduleOptions;
  interpreter: Pick<Interpreter, "levelOf">;
  events: EventRecorder;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
  options?: FailoverOptions;
}

const EVICTIONS_PER_SECOND = 0.5;
const BY_TARGET = "failover.target";
const PRODUCERS = {
  Namespaced: "resource-binding-application-failover-controller",
  Cluster: "cluster-resource-binding-application-failover-controller",
} as const;

type Binding = DeepReadonly<ResourceBinding>;

export function createFailoverController({
  scope,
  client,
  bindings,
  clusters,
  groups,
  scheduling,
  interpreter,
  events,
  recorder,
  clock,
  options = {},
}: FailoverDependencies): Controller<ObjectKey> {
  const { kind } = scope;
  const { unasked, evictionsPerSecond = EVICTIONS_PER_SECOND } = options;
  const pace = createPace(evictionsPerSecond);
  const stuck = createStuck();
  /**
   * Unhealthy periods that are too short to be stored on the binding; after a restart the binding provides the stored
   * ones.
   */
  const unhealthySince = new Map<string, UnhealthySince>();
  /** Names of drained members of any hub; `reconcile` looks at the member itself. */
  const draining = new Set<string>();
  const isOnDraining = ({ spec }: Binding): boolean =>
    draining.size > 0 && (spec.clusters ?? []).some(({ name }) => draining.has(name));
  bindings.addIndex(BY_TARGET, ({ spec }) => (spec.clusters ?? []).map(({ name }) => name));

  /** Whether it can move without a drain, or has a record to clear. */
  function isConcerned({ metadata, spec }: Binding): boolean {
    return (
      spec.failover !== undefined || unasked !== undefined || metadata.annotations?.[UNHEALTHY_SINCE] !== undefined
    );
  }

  function forget(key: ObjectKey): void {
    const id = idOfKey(key);
    unhealthySince.delete(id);
    stuck.release(id);
    pace.release(id);
  }

  /** Returns tasks for departures that can start now; the others are reported and retried. */
  function planTasks(binding: Binding, key: ObjectKey, departures: readonly Departure[], nowMs: number): DeparturePlan {
    const id = idOfKey(key);
    const plan = planDepartures(binding, departures, {
      ...scheduling,
      fleet: createFleet(clusters.list({ cluster: key.cluster })),
      neighbours: groups.neighboursOf(key.cluster, binding),
      nowMs,
      turnMs: () => pace.waitMs(id, nowMs),
    });
    if (plan.problems.length === 0) {
      stuck.release(id);
      return plan;
    }
    const { isNew, retryAfterMs } = stuck.note(id, key, plan.problems.join("\n"));
    for (const message of isNew ? plan.problems : [])
      report(key.cluster, binding, "Warning", "EvictWorkloadFromClusterFailed", message);
    return { ...plan, requeueAfterMs: Math.min(plan.requeueAfterMs, retryAfterMs) };
  }

  function report(hub: string, binding: Binding, type: "Normal" | "Warning", reason: string, message: string): void {
    for (const object of [binding, resourceOf(binding)]) events.record(hub, object, { type, reason, message });
  }

  return defineForBindings({
    stage: "failover",
    scope,
    concerns: (binding) => isConcerned(binding) || isOnDraining(binding),
    watches: [
      watch(Cluster, ({ cluster: hub, object, old, deleted }) => {
        if (!deleted && isDraining(object)) draining.add(object.metadata.name);
        else draining.delete(object.metadata.name);
        // A resource without another cluster may have one now.
        const isChanged =
          !old ||
          deleted ||
          old.metadata.generation !== object.metadata.generation ||
          !equalJson(old.metadata.labels, object.metadata.labels);
        const waiting = isChanged ? stuck.keys() : [];
        if (deleted || equalJson(noExecuteTaints(old?.spec.taints ?? []), noExecuteTaints(object.spec.taints ?? [])))
          return waiting;
        const tainted = bindings
          .by(BY_TARGET, object.metadata.name)
          .filter((binding) => isConcerned(binding) || isDraining(object));
        return [...waiting, ...tainted.map((binding) => keyOf(hub, binding))];
      }),
      watch(kind, (event) => groups.affectedBy(event).filter((key) => stuck.has(idOfKey(key)))),
    ],

    async reconcile(binding, { key, log, signal }) {
      const { metadata, spec } = binding;
      const before = metadata.annotations?.[UNHEALTHY_SINCE];
      if (metadata.deletionTimestamp || !(isConcerned(binding) || isOnDraining(binding))) {
        forget(key);
        return done;
      }
      const id = idOfKey(key);
      const nowMs = clock.now();
      // A kind without a health rule is never unhealthy.
      const known = interpreter.levelOf("isHealthy", spec.resource)
        ? (unhealthySince.get(id) ?? parseSince(before))
        : WELL;
      const application = planApplicationFailover(binding, known, PRODUCERS[kind.scope], nowMs);
      const cluster = planClusterFailover(
        binding,
        (name) => clusters.get({ cluster: key.cluster, name }),
        unasked,
        nowMs,
      );
      unhealthySince.set(id, application.since);

      const tainted = new Set(cluster.due.map((departure) => departure.cluster));
      const departures = [...cluster.due, ...application.due.filter((departure) => !tainted.has(departure.cluster))];
      if (cluster.due.length === 0) pace.release(id);
      if (departures.length === 0) stuck.release(id);
      const { tasks, requeueAfterMs } =
        departures.length > 0 ? planTasks(binding, key, departures, nowMs) : { tasks: [], requeueAfterMs: Infinity };
      const record = planSinceRecord(application.since, before, nowMs);

      const change = planPatch(binding, tasks, record.text);
      if (change) {
        // If the version changed meanwhile, the decision is made again on the newer one.
        const written = await unlessChanged(client.patch(kind, key, change, { type: "merge", signal }));
        if (!written) return done;
        if (tasks.some(({ reason }) => reason === "TaintUntolerated")) pace.release(id);
        for (const { fromCluster, reason, producer, message = "" } of tasks) {
          log.info("failover began", { member: fromCluster });
          recorder?.record({
            type: "EvictionStarted",
            controller: "failover",
            object: resourceOf(binding),
            clusters: [fromCluster],
            cause: { reason, message: message || `asked for by ${producer}` },
            before: { clusters: describeClusters(spec.clusters) },
            after: { clusters: describeClusters(spec.clusters), leaving: fromCluster },
          });
          report(key.cluster, binding, "Normal", "FailoverBegan", `Leaving cluster ${fromCluster}: ${message}`);
        }
      }
      const nextMs = Math.min(
        requeueAfterMs,
        ...[application, cluster, record].map((plan) => plan.requeueAfterMs ?? Infinity),
      );
      return Number.isFinite(nextMs) ? { requeueAfterMs: nextMs } : done;
    },

    forget,
  });
}

/** A merge patch of the binding; undefined when nothing changes. */
function planPatch(
  { metadata, spec }: Binding,
  tasks: readonly GracefulEvictionTask[],
  since: string | null | undefined,
): Json | undefined {
  if (tasks.length === 0 && since === undefined) return undefined;
  return {
    metadata: {
      resourceVersion: metadata.resourceVersion,
      annotations: since !== undefined ? { [UNHEALTHY_SINCE]: since } : undefined,
    },
    ...defined({
      spec: tasks.length > 0 ? { gracefulEvictionTasks: [...(spec.gracefulEvictionTasks ?? []), ...tasks] } : undefined,
    }),
  } as unknown as Json;
}
