/**
 * Rebalance executes WorkloadRebalancers: it triggers fresh scheduling for the bindings of the named workloads.
 *
 * Reads: WorkloadRebalancer, bindings of both scopes.
 * Writes: `rescheduleTriggeredAt` of bindings; the rebalancer's status, and its deletion when its TTL expires. Outside
 * the pipeline: schedule divides afresh when this time is later than its last decision.
 */
import { isNotFound } from "@flotilla/apimachinery";
import type { ObjectMeta } from "@flotilla/apimachinery";
import { bindingName, WorkloadRebalancer } from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineController, done, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, Lister } from "@flotilla/controller-runtime";
import type { DecisionRecorder } from "../../decisions/decision-recorder.ts";
import { describeClusters } from "../../decisions/describe-clusters.ts";
import { scopeIn } from "../bindings/binding-scope.ts";
import { resourceOf } from "../bindings/resource-of.ts";
import {
  isPending,
  listWorkloads,
  needsTrigger,
  planStatus,
  timeLeftMs,
  type Observed,
  type Outcome,
  type Workload,
} from "./plan-rebalance.ts";

export interface RebalanceDependencies {
  client: Client;
  bindings: Lister<ResourceBinding>;
  clusterBindings: Lister<ResourceBinding>;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
}

export function createRebalanceController({
  client,
  bindings,
  clusterBindings,
  recorder,
  clock,
}: RebalanceDependencies): Controller<ObjectKey> {
  async function trigger(
    { kind, namespace, name }: Workload,
    hub: string,
    { name: by, creationTimestamp: createdAt = "" }: Pick<ObjectMeta, "name" | "creationTimestamp">,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const key = { cluster: hub, namespace: namespace || undefined, name: bindingName(kind, name) };
    const binding = (namespace ? bindings : clusterBindings).get(key);
    if (!binding) return "NotFound";
    if (!needsTrigger(binding.spec.rescheduleTriggeredAt, createdAt)) return "Successful";
    try {
      await client.patch(
        scopeIn(namespace).kind,
        key,
        { spec: { rescheduleTriggeredAt: createdAt } },
        { type: "merge", signal },
      );
      recorder?.record({
        type: "Rebalanced",
        controller: "rebalance",
        object: resourceOf(binding),
        clusters: (binding.spec.clusters ?? []).map((cluster) => cluster.name),
        cause: { reason: "WorkloadRebalancer", message: `WorkloadRebalancer ${by} of ${createdAt} names it` },
        before: describeClusters(binding.spec.clusters),
        after: { rescheduleTriggeredAt: createdAt },
      });
      return "Successful";
    } catch (error) {
      if (isNotFound(error)) return "NotFound";
      throw error;
    }
  }

  return defineController({
    name: "rebalance",
    for: WorkloadRebalancer,
    writes: [WorkloadRebalancer, scopeIn("any").kind, scopeIn("").kind],

    async reconcile(rebalancer, { key, log, signal }) {
      const { metadata, status } = rebalancer;
      if (metadata.deletionTimestamp) return done;
      const workloads = listWorkloads(rebalancer);
      const outcomes = new Map<DeepReadonly<Observed>, Outcome>();
      const errors: unknown[] = [];
      for (const item of workloads.filter(isPending)) {
        try {
          outcomes.set(item, await trigger(item.workload, key.cluster, metadata, signal));
        } catch (error) {
          errors.push(error); // Continues with the others; this one is retried.
        }
      }
      const nowMs = clock.now();
      const next = planStatus(rebalancer, workloads, outcomes, nowMs);
      if (next !== status) {
        const written = await unlessChanged(
          client.patch(
            WorkloadRebalancer,
            key,
            { metadata: { resourceVersion: metadata.resourceVersion }, status: next } as unknown as Json,
            { type: "merge", subresource: "status", signal },
          ),
        );
        if (!written) return done;
        log.info("workloads rebalanced", { workloads: outcomes.size });
      }
      for (const error of errors) throw error;
      const leftMs = timeLeftMs(rebalancer, next, nowMs);
      if (leftMs === undefined) return done;
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      await unlessChanged(
        client.delete(WorkloadRebalancer, key, {
          preconditions: metadata.uid ? { uid: metadata.uid } : undefined,
          signal,
        }),
      );
      return done;
    },
  });
}
