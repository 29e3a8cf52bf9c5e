/**
 * Maintains conditions and taints of nodes that are lost, return, are cordoned, or are added by users.
 *
 * Reads: Node; the pods on it.
 * Writes: Node: conditions and taints; the first status of a user-created node. Pod: Ready=False on a lost node.
 * After: the eviction controller evicts pods that do not tolerate the taints.
 *
 * Where a member has its own kube-controller-manager, that one judges the health of nodes by their Leases
 * (`heartbeat-controller.ts`) and sets taints; what a kubelet reports is written here in any case.
 */
import { Node, Pod } from "@flotilla/kubernetes";
import { defined, formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineController, done, idOfKey, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder } from "@flotilla/controller-runtime";
import { faultOf } from "../annotations.ts";
import type { ClusterViews } from "../placement/views.ts";
import { createWaits } from "../simulated-waits.ts";
import { planConditions, planTaints } from "./health.ts";
import { nodeAddress, nodeStatus } from "./nodes.ts";

type ReadonlyNode = DeepReadonly<Node>;

export interface NodeTimes {
  /** How long a silent node still counts as healthy. */
  gracePeriodMs: number;
}

/** Kubernetes' default. */
const DEFAULT_NODE_TIMES: NodeTimes = { gracePeriodMs: 50_000 };

export interface LifecycleDependencies {
  client: Client;
  clock: Clock;
  views: ClusterViews;
  times?: Partial<NodeTimes> | undefined;
  events?: EventRecorder | undefined;
  isManagedElsewhere?: ((cluster: string) => boolean) | undefined;
}

/** The kubelet does not respond, and reports nothing about its pods. */
export const isLost = (node: ReadonlyNode): boolean => faultOf(node) === "lost";

export function createNodeLifecycleController(deps: LifecycleDependencies): Controller<ObjectKey> {
  const { client, clock, views, times, events, isManagedElsewhere = () => false } = deps;
  const { gracePeriodMs } = { ...DEFAULT_NODE_TIMES, ...defined(times) };
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
      const isJudgedElsewhere = isManagedElsewhere(key.cluster);
      // A kubelet that does not respond reports nothing.
      if (isJudgedElsewhere && isLost(node)) return done;
      const leftMs = isLost(node) ? waits.leftMs(idOfKey(key), "lost", gracePeriodMs) : 0;
      if (!isLost(node)) waits.over(idOfKey(key));
      const conditions = planConditions(node, isLost(node) && leftMs === 0, clock.now());
      const current =
        conditions === node.status.conditions
          ? node
          : await unlessChanged(
              client.updateStatus(Node, key.cluster, { ...node, status: { ...node.status, conditions } }, { signal }),
            );
      if (isJudgedElsewhere) return done;
      if (!current) return done; // The node changed in the meantime: the event triggers another reconcile.
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

  /** A user-created node: its kubelet reports for the first time. The given capacity is preserved. */
  async function start(node: ReadonlyNode, { cluster }: ObjectKey, signal: AbortSignal): Promise<void> {
    const given = node.status;
    const status = nodeStatus(node.metadata.name, nodeAddress(views.of(cluster).nodes.size), {}, clock.now());
    const capacity = Object.keys(given?.capacity ?? {}).length > 0 ? given?.capacity : undefined;
    const amounts = capacity && { capacity, allocatable: given?.allocatable ?? capacity };
    await unlessChanged(
      client.updateStatus(
        Node,
        cluster,
        {
          ...node,
          status: {
            ...status,
            ...amounts,
            ...defined({ addresses: given?.addresses?.length ? given.addresses : undefined }),
          },
        },
        { signal },
      ),
    );
  }

  async function markPods({ cluster, name }: ObjectKey, signal: AbortSignal): Promise<void> {
    // A copy: pods are added and removed while the writes are in flight.
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
