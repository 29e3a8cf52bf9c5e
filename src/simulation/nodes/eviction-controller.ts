/**
 * NoExecute taints: a pod that does not tolerate one leaves, at once or when its patience ends; pods of nodes that are gone are
 * removed. Only pods on such nodes cost anything.
 *
 * Reads:  Pod, Node.
 * Writes: Pod: the condition DisruptionTarget, then its deletion.
 */
import { Node, Pod } from "../../api/index.ts";
import type { Clock, DeepReadonly } from "../../base/index.ts";
import type { Client, ObjectKey } from "../../client/index.ts";
import { defineKeyedController, done, idOfKey, keyOf, watch } from "../../runtime/index.ts";
import type { Controller, EventRecorder, Informers } from "../../runtime/index.ts";
import { tolerates } from "../placement/node-rules.ts";
import { isOver } from "../placement/views.ts";
import type { ClusterViews } from "../placement/views.ts";
import { createWaits } from "../waits.ts";
import { disrupt, unlessChanged } from "../writes.ts";

type ReadonlyPod = DeepReadonly<Pod>;
type ReadonlyNode = DeepReadonly<Node>;

/** Kubernetes waits this long before it believes that a node is gone for good. */
const ORPHAN_MS = 40_000;

const harmful = (node: ReadonlyNode | undefined): boolean => node?.spec?.taints?.some(({ effect }) => effect === "NoExecute") ?? false;

/**
 * When the pod has to leave: undefined when it may stay for ever. Pure. A taint counts from when it was added; every taint must be
 * tolerated, and the least patient toleration decides.
 */
export function leaveAtMs({ spec }: ReadonlyPod, node: ReadonlyNode, nowMs: number): number | undefined {
  let leaveMs: number | undefined;
  for (const taint of node.spec?.taints ?? []) {
    if (taint.effect !== "NoExecute") continue;
    const tolerations = (spec.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
    if (tolerations.length === 0) return nowMs;
    const sinceMs = taint.timeAdded === undefined ? nowMs : Date.parse(taint.timeAdded);
    for (const { tolerationSeconds } of tolerations) {
      if (tolerationSeconds !== undefined) leaveMs = Math.min(leaveMs ?? Number.POSITIVE_INFINITY, sinceMs + Math.max(0, tolerationSeconds) * 1000);
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

export function createNodeEvictionController({ client, informers, clock, views, events }: EvictionDependencies): Controller<ObjectKey> {
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const waits = createWaits(clock);
  const nodeOf = (cluster: string, { spec }: ReadonlyPod): ReadonlyNode | undefined => nodes.get({ cluster, name: spec.nodeName ?? "" });

  return defineKeyedController<ObjectKey>({
    name: "node-eviction",
    writes: [Pod],
    sources: [
      watch(Node, ({ cluster, object, old, deleted }) => (deleted || harmful(object) || harmful(old) ? Array.from(views.of(cluster).podsOn(object.metadata.name), ({ pod }) => keyOf(cluster, pod)) : [])),
      watch(Pod, ({ cluster, object, old, deleted }) => {
        if (deleted || !object.spec.nodeName || (old?.spec.nodeName && old.spec.tolerations === object.spec.tolerations)) return [];
        const node = nodeOf(cluster, object);
        return !node || harmful(node) ? [keyOf(cluster, object)] : [];
      }),
    ],
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const pod = pods.get(key);
      if (!pod?.spec.nodeName || pod.metadata.deletionTimestamp) {
        waits.over(idOfKey(key));
        return done;
      }
      const node = nodeOf(key.cluster, pod);
      if (!node) return removeOrphan(pod, key, signal);
      waits.over(idOfKey(key));
      const leaveMs = isOver(pod) ? undefined : leaveAtMs(pod, node, clock.now());
      if (leaveMs === undefined) return done;
      if (leaveMs > clock.now()) return { requeueAfterMs: leaveMs - clock.now() };
      const gone = await disrupt({ client, clock }, key.cluster, pod, { reason: "DeletionByTaintManager", message: "Taint manager: deleting due to NoExecute taint" }, signal);
      if (gone) events?.record(key.cluster, pod, { type: "Normal", reason: "TaintManagerEviction", message: `Marking for deletion Pod ${key.namespace ?? ""}/${key.name}` });
      return done;
    },
  });

  /** A node that is away for a moment keeps its pods. */
  async function removeOrphan(pod: ReadonlyPod, key: ObjectKey, signal: AbortSignal): Promise<{ requeueAfterMs?: number }> {
    // A member whose pods were bound by somebody else may have no nodes at all.
    if (!nodes.fresh || views.of(key.cluster).nodes.size === 0) return done;
    const leftMs = waits.leftMs(idOfKey(key), `orphan ${pod.metadata.uid}`, ORPHAN_MS);
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    waits.over(idOfKey(key));
    const marked = isOver(pod) ? pod : await unlessChanged(client.updateStatus(Pod, key.cluster, { ...pod, status: { ...pod.status, phase: "Failed" } }, { signal }));
    if (marked) await unlessChanged(client.delete(Pod, key, { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid ?? "" }, signal }));
    return done;
  }
}
