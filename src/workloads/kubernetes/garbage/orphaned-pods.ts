/**
 * Pods whose node is gone: nobody is left to stop them or to say how they ended, so they are marked as failed and
 * removed.
 *
 * Reads: Pod, Node.
 * Writes: Pod (status, deletion). Waits a moment first: a node that is made again under its name keeps its pods.
 * Nothing is removed while nodes cannot be seen.
 */
import { Node, Pod } from "../../../api/index.ts";
import { formatTime } from "../../../base/index.ts";
import type { DeepReadonly } from "../../../base/index.ts";
import type { ObjectKey } from "../../../client/index.ts";
import { withCondition } from "../../../machinery/index.ts";
import { defineKeyedController, done, idOfKey, keyOf, unlessChanged, watch } from "../../../runtime/index.ts";
import type { Controller } from "../../../runtime/index.ts";
import type { WorkloadDependencies } from "../../dependencies.ts";
import type { ReadonlyPod } from "../pod.ts";

/** As long as upstream keeps a missing node in quarantine. */
const QUARANTINE_MS = 40_000;
/** How soon a list of nodes that was cut off is looked at again. */
const UNSEEN_RETRY_MS = 1_000;

export function createOrphanedPodController({ client, informers, clock }: WorkloadDependencies): Controller<ObjectKey> {
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
      // Nodes go rarely, so one look at all pods of the cluster will do.
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
