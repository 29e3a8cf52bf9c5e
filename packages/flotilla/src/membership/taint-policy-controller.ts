/**
 * Adds the taints of ClusterTaintPolicies to Clusters when their conditions match, and removes them again.
 *
 * Reads: Cluster, ClusterTaintPolicy.
 * Writes: the taints of the Cluster only.
 */
import { Cluster, ClusterTaintPolicy } from "@flotilla/karmada";
import { equalJson, formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { isNotFound } from "@flotilla/apimachinery";
import { defineController, done, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Lister } from "@flotilla/controller-runtime";
import type { DecisionRecorder } from "../decisions/decision-recorder.ts";
import { describeTaint } from "./describe-taint.ts";
import { describeTaints, planPolicyTaints } from "./plan-taints.ts";

type Affinity = NonNullable<DeepReadonly<ClusterTaintPolicy>["spec"]["targetClusters"]>;

export interface TaintPolicyDependencies {
  hub: string;
  client: Client;
  clusters: Lister<Cluster>;
  policies: Lister<ClusterTaintPolicy>;
  /** Whether an affinity selects a cluster, by the scheduler's rules. */
  matches(cluster: DeepReadonly<Cluster>, affinity: Affinity): boolean;
  events: EventRecorder;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
}

export function createTaintPolicyController(deps: TaintPolicyDependencies): Controller<ObjectKey> {
  const { hub, client, clusters, policies, matches, events, recorder, clock } = deps;
  /** The order decides where policies disagree: by creation time, then by name. */
  const inOrder = (): DeepReadonly<ClusterTaintPolicy>[] =>
    policies
      .list({ cluster: hub })
      .sort(
        (a, b) =>
          (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? "") ||
          (a.metadata.name < b.metadata.name ? -1 : 1),
      );

  return defineController({
    name: "cluster-taint-policy",
    for: Cluster,
    watches: [
      watch(ClusterTaintPolicy, ({ object, old, deleted }) => {
        // A deleted policy leaves its taints: the owner of the condition may still need them.
        if (deleted || (old && equalJson(old.spec, object.spec))) return [];
        const { targetClusters } = object.spec;
        return clusters
          .list({ cluster: hub })
          .flatMap((cluster) =>
            targetClusters === undefined || matches(cluster, targetClusters)
              ? [{ cluster: hub, name: cluster.metadata.name }]
              : [],
          );
      }),
    ],
    writes: [Cluster],

    async reconcile(cluster, { key, signal }) {
      if (cluster.metadata.deletionTimestamp) return done;
      const rules = inOrder().map(({ spec }) => spec);
      if (rules.length === 0) return done;
      const taints = planPolicyTaints(
        cluster,
        rules,
        (affinity) => matches(cluster, affinity),
        formatTime(clock.now()),
      );
      if (!taints) return done;
      // The resourceVersion makes it a compare-and-set: a list in a merge patch replaces concurrent additions of
      // others.
      const patch = {
        metadata: { resourceVersion: cluster.metadata.resourceVersion ?? null },
        spec: { taints: taints.length > 0 ? taints : null },
      };
      try {
        await client.patch(Cluster, key, patch as unknown as Json, { type: "merge", signal });
        recorder?.record(
          describeTaint("cluster-taint-policy", cluster, taints, "a ClusterTaintPolicy matches its conditions"),
        );
        events.record(hub, cluster, {
          type: "Normal",
          reason: "TaintClusterSucceed",
          message: `Update Cluster(${key.name}) with taints(${describeTaints(taints)}) succeed`,
        });
      } catch (error) {
        if (isNotFound(error)) return done; // It was deleted in the meantime.
        events.record(hub, cluster, {
          type: "Warning",
          reason: "TaintClusterFailed",
          message: error instanceof Error ? error.message : String(error),
        });
        throw error;
      }
      return done;
    },
  });
}
