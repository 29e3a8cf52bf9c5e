/**
 * Placement: gives every pod of a simulated member a node, the one with the fewest pods among those that fit.
 *
 * Reads:  Pod, Node.
 * Writes: Pod: `spec.nodeName`, in one write; or the condition PodScheduled=False, once, when nothing fits.
 * After:  the kubelet of the node starts the pod, and tells with its first status that the pod was scheduled.
 */
import { Node, Pod } from "../api/index.ts";
import { formatTime } from "../base/index.ts";
import type { Clock, DeepReadonly } from "../base/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";
import { isConflict, isNotFound } from "../machinery/index.ts";
import { defineController, done, keyOf, watch } from "../runtime/index.ts";
import type { Controller, Informers } from "../runtime/index.ts";
import { unsupportedRule, whyNot } from "./fit.ts";
import type { NodeUsage } from "./node-usage.ts";

type ReadonlyPod = DeepReadonly<Pod>;
type ReadonlyNode = DeepReadonly<Node>;

export type Verdict = { node: string } | { unschedulable: string };

/** Pure. Among equally empty nodes the first by name, so that a seed repeats a run. */
export function planPlacement(pod: ReadonlyPod, nodes: readonly ReadonlyNode[], usageOf: (node: string) => ReturnType<NodeUsage["of"]>): Verdict {
  const unsupported = unsupportedRule(pod);
  if (unsupported) return { unschedulable: unsupported };
  const reasons = new Map<string, number>();
  let best: { name: string; pods: number } | undefined;
  for (const node of nodes) {
    const { name } = node.metadata;
    const usage = usageOf(name);
    const reason = whyNot(pod, node, usage);
    if (reason) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    else if (!best || usage.pods < best.pods || (usage.pods === best.pods && name < best.name)) best = { name, pods: usage.pods };
  }
  if (best) return { node: best.name };
  const counts = Array.from(reasons, ([reason, count]) => `${count} ${reason}`).toSorted();
  return { unschedulable: `0/${nodes.length} nodes are available: ${counts.join(", ")}.` };
}

export interface PlacementDependencies {
  client: Client;
  informers: Informers;
  clock: Clock;
  usage: NodeUsage;
}

const UNPLACED_INDEX = "unplaced";

/** To be called once for a set of informers, because it adds an index to them. */
export function createPlacementController({ client, informers, clock, usage }: PlacementDependencies): Controller<ObjectKey> {
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  pods.addIndex(UNPLACED_INDEX, (pod, cluster) => (isUnplaced(pod) ? [cluster] : []));
  const unplacedOf = (cluster: string): ObjectKey[] => pods.by(UNPLACED_INDEX, cluster).map((pod) => keyOf(cluster, pod));

  return defineController({
    name: "placement",
    for: Pod,
    watches: [
      // Room may have appeared for pods that had none.
      watch(Node, ({ cluster }) => unplacedOf(cluster)),
      watch(Pod, ({ cluster, deleted, object }) => (deleted && object.spec.nodeName ? unplacedOf(cluster) : [])),
    ],
    writes: [Pod],
    concurrency: 32,

    async reconcile(pod, { key, signal }) {
      if (!isUnplaced(pod)) return done;
      const candidates = nodes.list({ cluster: key.cluster });
      // A member without nodes stores and runs nothing; nobody would read the condition of each pod.
      if (candidates.length === 0) return done;

      const verdict = planPlacement(pod, candidates, (node) => usage.of(key.cluster, node));
      if ("node" in verdict) {
        // Counted before the write, because others are placed while it is under way.
        usage.assume(key.cluster, pod, verdict.node);
        await bind(pod, key, verdict.node, signal);
      } else {
        await refuse(pod, key, verdict.unschedulable, signal);
      }
      return done;
    },
  });

  async function bind(pod: ReadonlyPod, { cluster }: ObjectKey, nodeName: string, signal: AbortSignal): Promise<void> {
    try {
      await client.update(Pod, cluster, { ...pod, spec: { ...pod.spec, nodeName } }, { signal });
    } catch (error) {
      usage.release(cluster, pod);
      // Changed or gone meanwhile: it comes back as an event.
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }

  async function refuse(pod: ReadonlyPod, { cluster }: ObjectKey, message: string, signal: AbortSignal): Promise<void> {
    const conditions = pod.status?.conditions ?? [];
    const before = conditions.find(({ type }) => type === "PodScheduled");
    if (before?.status === "False" && before.message === message) return;
    const lastTransitionTime = before?.status === "False" && before.lastTransitionTime ? before.lastTransitionTime : formatTime(clock.now());
    const refused = { type: "PodScheduled", status: "False", reason: "Unschedulable", message, lastTransitionTime };
    const status = { ...pod.status, conditions: [...conditions.filter(({ type }) => type !== "PodScheduled"), refused] };
    try {
      await client.updateStatus(Pod, cluster, { ...pod, status }, { signal });
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }
}

const DEFAULT_SCHEDULER = "default-scheduler";

/** Waits for a node, and for nobody else: not for another scheduler, and not for a gate. */
function isUnplaced({ spec, status, metadata }: ReadonlyPod): boolean {
  if (spec.nodeName || metadata.deletionTimestamp || spec.schedulingGates?.length) return false;
  return (spec.schedulerName ?? DEFAULT_SCHEDULER) === DEFAULT_SCHEDULER && status?.phase !== "Succeeded" && status?.phase !== "Failed";
}
