/**
 * Pods of deleted nodes: no kubelet is left to stop them or to report their end, so they are marked as failed and
 * deleted.
 *
 * Reads: Pod, Node.
 * Writes: Pod (status, deletion). Waits first: a node that is recreated under its name keeps its pods. Nothing is
 * deleted while the list of nodes is unavailable.
 */
import { Node } from "../node/node-kind.ts";
import { Pod } from "./pod-kind.ts";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { withCondition } from "@flotilla/apimachinery";
import { defineKeyedController, done, idOfKey, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import type { ReadonlyPod } from "./pod-state.ts";

/** Upstream's quarantine for a missing node. */
const QUARANTINE_MS = 40_000;
/** Retry interval while the list of nodes is incomplete. */
const UNSEEN_RETRY_MS = 1_000;

export function createPodGarbageController({ client, informers, clock }: WorkloadDependencies): Controller<ObjectKey> {
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const missingSince = new Map<string, number>();
  const isLost = (cluster: string, { spec }: ReadonlyPod): boolean =>
    Boolean(spec.nodeName) && nodes.get({ cluster, name: spec.nodeName ?? "" }) === undefined;

  return defineKeyedController<ObjectKey>({
    name: "orphaned-pods",
    writes: [Pod],
    sources: [
      watch(Pod, ({ cluster, object, deleted }) =>
        !deleted && isLost(cluster, object) ? [keyOf(cluster, object)] : [],
      ),
      // Nodes are rarely deleted, so scanning all pods of the cluster is acceptable.
      watch(Node, ({ cluster, object, deleted }) =>
        deleted
          ? pods
              .list({ cluster })
              .filter(({ spec }) => spec.nodeName === object.metadata.name)
              .map((pod) => keyOf(cluster, pod))
          : [],
      ),
    ],
    idOf: idOfKey,
    async reconcile(key, { signal }) {
      const pod = pods.get(key);
      if (!pod || !isLost(key.cluster, pod)) {
        missingSince.delete(idOfKey(key));
        return done;
      }
      const since = missingSince.get(idOfKey(key)) ?? clock.now();
      missingSince.set(idOfKey(key), since);
      const leftMs = since + QUARANTINE_MS - clock.now();
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      if (!nodes.fresh) return { requeueAfterMs: UNSEEN_RETRY_MS };
      await unlessChanged(remove(key, pod, signal));
      missingSince.delete(idOfKey(key));
      return done;
    },
  });

  async function remove(key: ObjectKey, pod: ReadonlyPod, signal: AbortSignal): Promise<void> {
    const { phase } = pod.status ?? {};
    if (phase !== "Succeeded" && phase !== "Failed")
      await client.updateStatus(Pod, key.cluster, failed(pod), { signal });
    await client.delete(Pod, key, { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid ?? "" }, signal });
  }

  function failed(pod: ReadonlyPod): DeepReadonly<Pod> {
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      reason: "DeletionByPodGC",
      message: "PodGC: node no longer exists",
    } as const;
    return {
      ...pod,
      status: {
        ...pod.status,
        phase: "Failed",
        conditions: [...withCondition(pod.status?.conditions, condition, formatTime(clock.now()))],
      },
    };
  }
}
