/**
 * Lifecycle of a Cluster from join to unjoin: its execution namespace, the taints that follow its conditions, and its
 * removal.
 *
 * Reads: Cluster, Namespace, which bindings still name the member.
 * Writes: the namespace `karmada-es-<cluster>`; the taints and the finalizer of the Cluster; the condition `Unjoining`
 * while it leaves; the finalizers of Works whose agent no longer exists.
 *
 * A member that leaves keeps its workloads unless it is purged; see `leaving-delivery.ts` for its Works.
 */
import {
  Cluster,
  CLUSTER_FINALIZER,
  clusterNameOf,
  executionNamespace,
  SYSTEM_LABELS,
  Work,
  WORK_FINALIZER,
} from "@flotilla/karmada";
import { findCondition, isAlreadyExists, isConditionTrue, isNotFound, withCondition } from "@flotilla/apimachinery";
import { Namespace } from "@flotilla/kubernetes";
import { formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineController, done, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Lister, Result } from "@flotilla/controller-runtime";
import type { DecisionRecorder } from "../decisions/decision-recorder.ts";
import { describeTaint } from "./describe-taint.ts";
import { leaveModeOf } from "./leaving-delivery.ts";
import { describeTaints, planConditionTaints } from "./plan-taints.ts";
import { UNJOINING } from "../flotilla-names.ts";

export interface LifecycleDependencies {
  hub: string;
  client: Client;
  namespaces: Lister<Namespace>;
  /** The remaining Works of the member. */
  worksOf(cluster: string): readonly DeepReadonly<Work>[];
  /** Whether the member has another registration on the hub, whose deletion must come first. */
  isHeld(cluster: string): boolean;
  /** Whether a binding still names the member. */
  isTargeted(cluster: string): boolean;
  events: EventRecorder;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
}

/**
 * The deletion of the namespace is observed; this interval is for events that are not, such as a rescheduled binding.
 */
const RECHECK_MS = 1_000;
/**
 * Bindings are rescheduled at once. One that still names the member after this long has no other cluster to move to,
 * and no Works left.
 */
const BINDINGS_GRACE_MS = 30_000;
/** An unjoin that takes longer than this reports what it waits for. */
const SAY_AFTER_MS = 5_000;

export function createLifecycleController(deps: LifecycleDependencies): Controller<ObjectKey> {
  const { hub, client, namespaces, worksOf, isHeld, isTargeted, events, recorder, clock } = deps;
  async function ensureNamespace(cluster: DeepReadonly<Cluster>, signal: AbortSignal): Promise<void> {
    const { name } = cluster.metadata;
    const namespace = executionNamespace(name);
    if (namespaces.get({ cluster: hub, name: namespace })) return;
    try {
      await client.create(
        Namespace,
        hub,
        { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels: SYSTEM_LABELS } },
        { signal },
      );
      events.record(hub, cluster, {
        type: "Normal",
        reason: "CreateExecutionSpaceSucceed",
        message: `Created execution space(${namespace}) for cluster(${name}).`,
      });
    } catch (error) {
      if (isAlreadyExists(error)) return;
      events.record(hub, cluster, {
        type: "Warning",
        reason: "CreateExecutionSpaceFailed",
        message: error instanceof Error ? error.message : String(error),
      });
      throw error;
    }
  }

  async function taint(cluster: DeepReadonly<Cluster>, signal: AbortSignal): Promise<void> {
    const { name, resourceVersion } = cluster.metadata;
    const taints = planConditionTaints(cluster);
    if (!taints) return;
    // The resourceVersion makes it a compare-and-set: a list in a merge patch replaces concurrent additions of others.
    const patch = {
      metadata: { resourceVersion: resourceVersion ?? null },
      spec: { taints: taints.length > 0 ? taints : null },
    };
    await client.patch(Cluster, { cluster: hub, name }, patch as unknown as Json, { type: "merge", signal });
    const { reason = "Unknown", message = "" } = findCondition(cluster.status?.conditions ?? [], "Ready") ?? {};
    recorder?.record(describeTaint("cluster-lifecycle", cluster, taints, `condition Ready: ${reason}: ${message}`));
    events.record(hub, cluster, {
      type: "Normal",
      reason: "TaintClusterSucceed",
      message: `Taint cluster succeed: ${describeTaints(taints)}.`,
    });
  }

  /** Only an unjoin that has to wait is worth a write. */
  async function reportWaiting(cluster: DeepReadonly<Cluster>, message: string, signal: AbortSignal): Promise<Result> {
    const sinceMs = Date.parse(cluster.metadata.deletionTimestamp ?? "");
    const conditions = cluster.status?.conditions ?? [];
    const reached = isConditionTrue(conditions, "Ready");
    const purges = leaveModeOf(cluster) === "purge";
    const reason = purges && !reached ? "MemberUnreachable" : "WaitingForWorks";
    if (clock.now() - sinceMs < SAY_AFTER_MS || findCondition(conditions, UNJOINING)?.reason === reason)
      return { requeueAfterMs: RECHECK_MS };
    const advice =
      reason === "MemberUnreachable"
        ? `; nothing can be deleted there until it answers: run flotilla unjoin ${cluster.metadata.name} --force to leave it unchanged`
        : "";
    const next = withCondition(
      conditions,
      { type: UNJOINING, status: "True", reason, message: `${message}${advice}` },
      formatTime(clock.now()),
    );
    await client.updateStatus(
      Cluster,
      hub,
      { ...cluster, status: { ...cluster.status, conditions: [...next] } },
      { signal },
    );
    return { requeueAfterMs: RECHECK_MS };
  }

  return defineController({
    name: "cluster-lifecycle",
    for: Cluster,
    finalizer: CLUSTER_FINALIZER,
    watches: [
      watch(Namespace, ({ cluster, object }) => {
        const name = clusterNameOf(object.metadata.name);
        return name === undefined ? [] : [{ cluster, name }];
      }),
    ],
    writes: [Cluster, Namespace, Work],

    async reconcile(cluster, { signal }) {
      await ensureNamespace(cluster, signal);
      await taint(cluster, signal);
      return done;
    },

    async finalize(cluster, { signal, log }) {
      const { name } = cluster.metadata;
      const namespace = executionNamespace(name);
      const present = namespaces.get({ cluster: hub, name: namespace });
      if (present) {
        if (!present.metadata.deletionTimestamp) await removeNamespace(cluster, namespace, signal);
        const works = worksOf(name);
        if (isAbandonedPull(cluster)) await letWorksGo(works, signal);
        const left = works.length;
        return reportWaiting(
          cluster,
          left === 0
            ? `waiting for namespace ${namespace} to be deleted`
            : `waiting for ${left} Work${left === 1 ? "" : "s"} in ${namespace}`,
          signal,
        );
      }
      if (isHeld(name)) return reportWaiting(cluster, `waiting for ManagedCluster ${name} to be deleted`, signal);
      const leavingMs = clock.now() - Date.parse(cluster.metadata.deletionTimestamp ?? "");
      if (isTargeted(name) && leavingMs < BINDINGS_GRACE_MS && leaveModeOf(cluster) !== "abandon")
        return { requeueAfterMs: RECHECK_MS };
      log.info("member left", { member: name, how: leaveModeOf(cluster) });
      return done;
    },
  });

  /** No other controller removes the finalizer: the agent that owns it no longer exists. */
  async function letWorksGo(works: readonly DeepReadonly<Work>[], signal: AbortSignal): Promise<void> {
    for (const { metadata } of works) {
      const finalizers = metadata.finalizers?.filter((finalizer) => finalizer !== WORK_FINALIZER) ?? [];
      if (finalizers.length === (metadata.finalizers?.length ?? 0)) continue;
      try {
        const patch = { metadata: { resourceVersion: metadata.resourceVersion ?? null, finalizers } };
        await client.patch(
          Work,
          { cluster: hub, namespace: metadata.namespace || undefined, name: metadata.name },
          patch,
          { type: "merge", signal },
        );
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
  }

  async function removeNamespace(
    cluster: DeepReadonly<Cluster>,
    namespace: string,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await client.delete(Namespace, { cluster: hub, name: namespace }, { signal });
      events.record(hub, cluster, {
        type: "Normal",
        reason: "RemoveExecutionSpaceSucceed",
        message: `Removed execution space for cluster(${cluster.metadata.name}).`,
      });
    } catch (error) {
      if (isNotFound(error)) return;
      events.record(hub, cluster, {
        type: "Warning",
        reason: "RemoveExecutionSpaceFailed",
        message: error instanceof Error ? error.message : String(error),
      });
      throw error;
    }
  }
}

/**
 * A pull member whose agent stopped reporting. It keeps its workloads, because only an agent could remove them. With a
 * purge, the unjoin waits for the agent until the force annotation is set.
 */
function isAbandonedPull(cluster: DeepReadonly<Cluster>): boolean {
  const leaveMode = leaveModeOf(cluster);
  if (cluster.spec.syncMode !== "Pull") return false;
  return (
    leaveMode === "abandon" || (leaveMode === "release" && !isConditionTrue(cluster.status?.conditions ?? [], "Ready"))
  );
}
