/**
 * Decides which graceful eviction tasks end: once the resource is healthy on its new clusters. Pure.
 *
 * Karmada ends a task after its timeout, regardless of the replacement. Here a copy that is still healthy stays after
 * the default timeout, and no copy is deleted while the scheduler has found no cluster for it: a running copy is
 * deleted only after its replacement is healthy, or because the policy requires it (`gracePeriodSeconds`, or the purge
 * mode Directly).
 */
import type { GracefulEvictionTask } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { ResourceBinding } from "@flotilla/karmada";
import { formatTime, isObject, type DeepReadonly } from "@flotilla/base";
import { isConditionTrue } from "@flotilla/apimachinery";
import type { Ending } from "../moves/move-history.ts";
import { isPurgedDirectly } from "../bindings/target-clusters.ts";
import type { ScaleTarget } from "./scale-targets.ts";

type Binding = DeepReadonly<ResourceBinding>;
type Task = DeepReadonly<GracefulEvictionTask>;

/** The deletion of a workload enqueues its own binding only, and its autoscaler is looked at this often. */
const LOOK_FOR_TARGET_MS = 2_000;

export interface EvictionsPlan {
  /** The same list when nothing changes. */
  readonly tasks: readonly Task[];
  readonly ended: readonly { readonly task: Task; readonly ending: Ending }[];
  /** When to reconcile again if nothing changes until then. */
  readonly requeueAfterMs?: number;
}

/** What the plan reads beside the binding. */
export interface EvictionViews {
  /** Members that decide the replicas of their copy themselves. */
  readonly decidesReplicas?: ReadonlySet<string>;
  /** What the copy scales on the members that it leaves (`scale-targets.ts`). */
  readonly scaleTargets?: ReadonlyMap<string, ScaleTarget>;
}

export function planEvictions(
  binding: Binding,
  timeoutMs: number,
  nowMs: number,
  views: EvictionViews = {},
): EvictionsPlan {
  const before = binding.spec.gracefulEvictionTasks ?? [];
  const view = viewOf(binding, views);
  const tasks: Task[] = [];
  const ended: { task: Task; ending: Ending }[] = [];
  let nextMs = Infinity;
  for (const given of before) {
    // A user who adds a task by hand may omit the time.
    const task = given.creationTimestamp ? given : { ...given, creationTimestamp: formatTime(nowMs) };
    const expiresMs =
      Date.parse(task.creationTimestamp ?? "") +
      (task.gracePeriodSeconds === undefined ? timeoutMs : task.gracePeriodSeconds * 1000);
    const ending = given === task ? endingOf(task, view, !(expiresMs > nowMs)) : undefined;
    if (ending) ended.push({ task, ending });
    else {
      tasks.push(task);
      if (!isHeld(task) && expiresMs > nowMs) nextMs = Math.min(nextMs, expiresMs - nowMs);
      if (view.scaledOn(task.fromCluster)) nextMs = Math.min(nextMs, LOOK_FOR_TARGET_MS);
    }
  }
  const isSame = ended.length === 0 && tasks.every((task, place) => task === before[place]);
  return { tasks: isSame ? before : tasks, ended, requeueAfterMs: Number.isFinite(nextMs) ? nextMs : undefined };
}

interface View {
  /** The scheduler has decided for this very spec, and placed everything. */
  readonly isPlaced: boolean;
  readonly targets: ReadonlySet<string>;
  /** Every target reports healthy, and has as many available replicas as its share. */
  readonly isUp: boolean;
  /** Every target reports that it is healthy. */
  readonly isHealthy: boolean;
  isHealthyOn(cluster: string): boolean;
  /** The workload on a member that the copy scales. */
  scaledOn(cluster: string): ScaleTarget | undefined;
}

function viewOf({ metadata, spec, status }: Binding, { decidesReplicas, scaleTargets }: EvictionViews): View {
  const { clusters = [] } = spec;
  const items = new Map(status?.aggregatedStatus?.map((item) => [item.clusterName, item]));
  const isHealthyOn = (cluster: string): boolean => items.get(cluster)?.health === "Healthy";
  const isHealthy = clusters.every(({ name }) => isHealthyOn(name));
  return {
    isPlaced:
      status?.schedulerObservedGeneration === metadata.generation && isConditionTrue(status?.conditions, "Scheduled"),
    targets: new Set(clusters.map(({ name }) => name)),
    isUp:
      isHealthy &&
      clusters.every(
        ({ name, replicas }) =>
          replicas === undefined ||
          decidesReplicas?.has(name) ||
          (replicasUp(items.get(name)?.status) ?? replicas) >= replicas,
      ),
    isHealthy,
    isHealthyOn,
    scaledOn: (cluster) => scaleTargets?.get(cluster),
  };
}

/**
 * A member that gets more replicas still reports healthy until it has received them. Kinds that report available
 * replicas show the difference; for others only the health is known.
 */
function replicasUp(status: unknown): number | undefined {
  if (!isObject(status)) return undefined;
  const { availableReplicas, readyReplicas } = status;
  const up = availableReplicas ?? readyReplicas;
  return typeof up === "number" ? up : undefined;
}

/** Held until a user allows the deletion of the copy. */
function isHeld({ suppressDeletion, purgeMode }: Task): boolean {
  return suppressDeletion ?? purgeMode === "Never";
}

function endingOf(
  task: Task,
  { isPlaced, targets, isUp, isHealthy, isHealthyOn, scaledOn }: View,
  isExpired: boolean,
): Ending | undefined {
  if (task.suppressDeletion === false) return "Confirmed";
  if (isHeld(task)) return undefined;
  // A directly purged copy is already deleted; its task only keeps the scheduler from choosing the cluster again.
  if (isExpired && isPurgedDirectly(task)) return "TimedOut";
  if (!isPlaced) return undefined;
  // The scheduler has observed the task and selects the cluster again: nothing else fits, so the copy is no longer
  // evicted.
  if (targets.has(task.fromCluster)) return "Withdrawn";
  // An autoscaler leaves after its target. One whose target stays does not wait for it longer than for its replacement.
  const scaled = scaledOn(task.fromCluster);
  if (scaled === "leaving" || (scaled === "staying" && !isExpired)) return undefined;
  if (isUp) return "Replaced";
  if (!isExpired) return undefined;
  return task.gracePeriodSeconds !== undefined || isHealthy || !isHealthyOn(task.fromCluster) ? "TimedOut" : undefined;
}
