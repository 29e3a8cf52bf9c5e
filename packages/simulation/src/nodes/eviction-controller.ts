/**
 * NoExecute taints: evicts pods that do not tolerate one, at once or when tolerationSeconds have passed. Only pods on
 * such nodes cost anything. Pods of deleted nodes are left to Kubernetes' pod garbage collector.
 *
 * Reads: Pod, Node.
 * Writes: Pod: the condition DisruptionTarget, then its deletion.
 */
import { Node, Pod } from "@flotilla/kubernetes";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, keyOf, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informers } from "@flotilla/controller-runtime";
import { tolerates } from "../placement/node-rules.ts";
import { isOver } from "../placement/views.ts";
import type { ClusterViews } from "../placement/views.ts";
import { disrupt } from "../pod-writes.ts";

type ReadonlyPod = DeepReadonly<Pod>;
type ReadonlyNode = DeepReadonly<Node>;

const harmful = (node: ReadonlyNode | undefined): boolean =>
  node?.spec?.taints?.some(({ effect }) => effect === "NoExecute") ?? false;

/**
 * The time of the pod's eviction; undefined if it may stay forever. Pure. A taint counts from when it was added; every
 * taint must be tolerated, and the shortest tolerationSeconds decides.
 */
function leaveAtMs({ spec }: ReadonlyPod, node: ReadonlyNode, nowMs: number): number | undefined {
  let leaveMs: number | undefined;
  for (const taint of node.spec?.taints ?? []) {
    if (taint.effect !== "NoExecute") continue;
    const tolerations = (spec.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
    if (tolerations.length === 0) return nowMs;
    const sinceMs = taint.timeAdded === undefined ? nowMs : Date.parse(taint.timeAdded);
    for (const { tolerationSeconds } of tolerations) {
      if (tolerationSeconds !== undefined)
        leaveMs = Math.min(leaveMs ?? Number.POSITIVE_INFINITY, sinceMs + Math.max(0, tolerationSeconds) * 1000);
    }
  }
  return leaveMs;
}

export interface EvictionDependencies {
  client: Client;
  informers: Informers;
  clock: Clock;
  views: ClusterViews;
  events?: EventRecorder | undefined;
}

export function createNodeEvictionController(deps: EvictionDependencies): Controller<ObjectKey> {
  const { client, informers, clock, views, events } = deps;
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const nodeOf = (cluster: string, { spec }: ReadonlyPod): ReadonlyNode | undefined =>
    nodes.get({ cluster, name: spec.nodeName ?? "" });

  return defineKeyedController<ObjectKey>({
    name: "node-eviction",
    writes: [Pod],
    sources: [
      watch(Node, ({ cluster, object, old, deleted }) =>
        !deleted && (harmful(object) || harmful(old))
          ? Array.from(views.of(cluster).podsOn(object.metadata.name), ({ pod }) => keyOf(cluster, pod))
          : [],
      ),
      watch(Pod, ({ cluster, object, old, deleted }) => {
        if (
          deleted ||
          !object.spec.nodeName ||
          (old?.spec.nodeName && old.spec.tolerations === object.spec.tolerations)
        )
          return [];
        return harmful(nodeOf(cluster, object)) ? [keyOf(cluster, object)] : [];
      }),
    ],
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const pod = pods.get(key);
      if (!pod?.spec.nodeName || pod.metadata.deletionTimestamp || isOver(pod)) return done;
      const node = nodeOf(key.cluster, pod);
      const leaveMs = node && leaveAtMs(pod, node, clock.now());
      if (leaveMs === undefined) return done;
      if (leaveMs > clock.now()) return { requeueAfterMs: leaveMs - clock.now() };
      const gone = await disrupt(
        { client, clock },
        key.cluster,
        pod,
        { reason: "DeletionByTaintManager", message: "Taint manager: deleting due to NoExecute taint" },
        signal,
      );
      if (gone)
        events?.record(key.cluster, pod, {
          type: "Normal",
          reason: "TaintManagerEviction",
          message: `Marking for deletion Pod ${key.namespace ?? ""}/${key.name}`,
        });
      return done;
    },
  });
}
