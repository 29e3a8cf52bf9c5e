/**
 * Nodes that are lost and come back, cordons, and nodes that users add: keeps conditions and taints right.
 *
 * Reads: Node; the pods on it.
 * Writes: Node: conditions and taints; the first status of a node that somebody created. Pod: Ready=False on a node
 * that is lost.
 * After: the eviction controller removes pods that do not tolerate the taints.
 */
import { Node, Pod } from "../../api/index.ts";
import { defined, formatTime } from "../../base/index.ts";
import type { Clock, DeepReadonly } from "../../base/index.ts";
import type { Client, ObjectKey } from "../../client/index.ts";
import { defineController, done, idOfKey, unlessChanged } from "../../runtime/index.ts";
import type { Controller, EventRecorder } from "../../runtime/index.ts";
import { faultOf } from "../annotations.ts";
import type { ClusterViews } from "../placement/views.ts";
import { createWaits } from "../waits.ts";
import { planConditions, planTaints } from "./health.ts";
import { nodeAddress, nodeStatus } from "./nodes.ts";

type ReadonlyNode = DeepReadonly<Node>;

export interface NodeTimes {
  /** How long a node that says nothing is believed to be well. */
  silenceMs: number;
}

/** Kubernetes' own. */
export const DEFAULT_NODE_TIMES: NodeTimes = { silenceMs: 50_000 };

export interface LifecycleDependencies {
  client: Client;
  clock: Clock;
  views: ClusterViews;
  times?: Partial<NodeTimes> | undefined;
  events?: EventRecorder | undefined;
}

/** Its kubelet does not answer, and runs nothing that anybody would hear of. */
export const isLost = (node: ReadonlyNode): boolean => faultOf(node) === "lost";

export function createNodeLifecycleController({
  client,
  clock,
  views,
  times,
  events,
}: LifecycleDependencies): Controller<ObjectKey> {
  const { silenceMs } = { ...DEFAULT_NODE_TIMES, ...defined(times) };
  const waits = createWaits(clock);

  return defineController({
    name: "node-lifecycle",
    for: Node,
    writes: [Node, Pod],

    async reconcile(node, { key, signal }) {
      if (!node.status?.conditions?.length) {
        await start(node, key, signal);
        return done;
      }
      const leftMs = isLost(node) ? waits.leftMs(idOfKey(key), "lost", silenceMs) : 0;
      if (!isLost(node)) waits.over(idOfKey(key));
      const conditions = planConditions(node, isLost(node) && leftMs === 0, clock.now());
      const current =
        conditions === node.status.conditions
          ? node
          : await unlessChanged(
              client.updateStatus(Node, key.cluster, { ...node, status: { ...node.status, conditions } }, { signal }),
            );
      if (!current) return done; // Changed meanwhile: it comes back as an event.
      const taints = planTaints(current, conditions, clock.now());
      if (taints) {
        const { taints: _, ...spec } = current.spec ?? {};
        await unlessChanged(
          client.update(
            Node,
            key.cluster,
            { ...current, spec: { ...spec, taints: taints.length > 0 ? taints : undefined } },
            { signal },
          ),
        );
      }
      if (conditions.some(({ type, status }) => type === "Ready" && status === "Unknown")) await markPods(key, signal);
      return leftMs > 0 ? { requeueAfterMs: leftMs } : done;
    },
    forget: (key) => waits.over(idOfKey(key)),
  });

  /** A node that somebody created: its kubelet reports for the first time. What was given as its capacity stays. */
  async function start(node: ReadonlyNode, { cluster }: ObjectKey, signal: AbortSignal): Promise<void> {
    const given = node.status;
    const status = nodeStatus(node.metadata.name, nodeAddress(views.of(cluster).nodes.size), {}, clock.now());
    const capacity = Object.keys(given?.capacity ?? {}).length > 0 ? given?.capacity : undefined;
    const amounts = capacity && { capacity, allocatable: given?.allocatable ?? capacity };
    await unlessChanged(
      client.updateStatus(
        Node,
        cluster,
        { ...node, status: { ...status, ...amounts, ...(given?.addresses?.length && { addresses: given.addresses }) } },
        { signal },
      ),
    );
  }

  async function markPods({ cluster, name }: ObjectKey, signal: AbortSignal): Promise<void> {
    // Pods come and go while the writes are under way.
    for (const { pod } of Array.from(views.of(cluster).podsOn(name))) {
      const conditions = pod.status?.conditions ?? [];
      if (!conditions.some(({ type, status }) => type === "Ready" && status === "True")) continue;
      const marked = conditions.map((condition) =>
        condition.type === "Ready"
          ? { ...condition, status: "False", lastTransitionTime: formatTime(clock.now()) }
          : condition,
      );
      if (
        await unlessChanged(
          client.updateStatus(Pod, cluster, { ...pod, status: { ...pod.status, conditions: marked } }, { signal }),
        )
      ) {
        events?.record(cluster, pod, { type: "Warning", reason: "NodeNotReady", message: "Node is not ready" });
      }
    }
  }
}
