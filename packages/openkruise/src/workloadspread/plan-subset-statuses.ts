/**
 * The status of the subsets of a WorkloadSpread: counted pods, corrected by what the webhook has recorded since, and
 * whether pods find nodes there. Pure.
 */
import { formatTime } from "@flotilla/base";
import type { RecordedEvent } from "@flotilla/controller-runtime";
import { isActive, timeMs } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { schedulingTimeLeftMs } from "../pod/scheduling-time.ts";
import { matchOf } from "./inject-subset.ts";
import { limitOf } from "./subset-records.ts";
import type { ReadonlySpread, Subset, SubsetStatus } from "./spread-targets.ts";

/** A pod that was admitted, and not seen after this time, was not created. */
const CREATION_TIMEOUT_MS = 30_000;
const DELETION_TIMEOUT_MS = 15_000;
/** A subset without room is tried again after this time. */
const AVOIDANCE_MS = 300_000;
const CONDITION = "Schedulable";

interface StatusContext {
  spread: ReadonlySpread;
  replicas: number;
  nowMs: number;
  events: RecordedEvent[];
  waitsMs: number[];
}

/** Undefined if the limit of a subset cannot be read. */
export function planSubsetStatuses(
  context: StatusContext,
  before: readonly SubsetStatus[] = [],
  groups: ReadonlyMap<string, readonly ReadonlyPod[]>,
): { statuses: SubsetStatus[]; unschedulable: ReadonlyMap<string, readonly ReadonlyPod[]> } | undefined {
  const { spec } = context.spread;
  const { type, adaptive } = spec.scheduleStrategy ?? {};
  const waitLimitMs = type === "Adaptive" ? (adaptive?.rescheduleCriticalSeconds ?? 0) * 1000 : 0;
  const unschedulable = new Map<string, readonly ReadonlyPod[]>();
  const statuses: SubsetStatus[] = [];
  for (const [index, subset] of spec.subsets.entries()) {
    const pods = groups.get(subset.name) ?? [];
    const old = before.find(({ name }) => name === subset.name);
    const counted = countSubset(context, subset, pods, old);
    if (!counted) return undefined;
    if (waitLimitMs === 0) {
      statuses.push(counted);
      continue;
    }
    // No subset follows the last one, so its pods have nowhere else to go.
    const isLast = index === spec.subsets.length - 1;
    const stuck = isLast ? [] : stuckPods(context, pods, waitLimitMs);
    if (!isLast) unschedulable.set(subset.name, stuck);
    statuses.push({ ...counted, conditions: [conditionOf(context, subset.name, old, stuck.length > 0, isLast)] });
  }
  return { statuses, unschedulable };
}

function countSubset(
  context: StatusContext,
  subset: Subset,
  pods: readonly ReadonlyPod[],
  old: SubsetStatus | undefined,
): SubsetStatus | undefined {
  const { spread, replicas, nowMs, events, waitsMs } = context;
  const limit = limitOf(subset, replicas);
  if (limit === undefined) return undefined;
  const { namespace = "" } = spread.metadata;
  const awaited = new Map(Object.entries(old?.creatingPods ?? {}));
  const deletingPods: Record<string, string> = {};
  const creatingPods: Record<string, string> = {};
  let missingReplicas = limit;
  let active = 0;
  for (const pod of pods) {
    const { name } = pod.metadata;
    awaited.delete(matchOf(pod)?.uid ?? name);
    if (!isActive(pod)) continue;
    active++;
    if (missingReplicas > 0) missingReplicas--;
    const since = old?.deletingPods?.[name];
    if (since === undefined) continue;
    const leftMs = timeMs(since) + DELETION_TIMEOUT_MS - nowMs;
    if (leftMs < 0) {
      events.push(failed("DeletePodFailed", `Pod ${namespace}/${name} was expected to be deleted but it wasn't`));
      continue;
    }
    deletingPods[name] = since;
    if (missingReplicas < limit) missingReplicas++;
    waitsMs.push(leftMs);
  }
  for (const [id, since] of awaited) {
    const leftMs = timeMs(since) + CREATION_TIMEOUT_MS - nowMs;
    if (leftMs < 0) {
      events.push(failed("CreatePodFailed", `Pod ${namespace}/${id} was expected to be created but it wasn't`));
      continue;
    }
    creatingPods[id] = since;
    if (missingReplicas > 0) missingReplicas--;
    waitsMs.push(leftMs);
  }
  return {
    name: subset.name,
    replicas: active,
    missingReplicas,
    creatingPods: filled(creatingPods),
    deletingPods: filled(deletingPods),
  };
}

const failed = (reason: string, message: string): RecordedEvent => ({ type: "Warning", reason, message });
const filled = (map: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined =>
  Object.keys(map).length > 0 ? map : undefined;

function stuckPods(
  { nowMs, waitsMs }: StatusContext,
  pods: readonly ReadonlyPod[],
  waitLimitMs: number,
): ReadonlyPod[] {
  return pods.filter((pod) => {
    const leftMs = schedulingTimeLeftMs(pod, waitLimitMs, nowMs);
    if (leftMs !== undefined && leftMs >= 0) waitsMs.push(leftMs);
    return leftMs !== undefined && leftMs < 0;
  });
}

function conditionOf(
  { spread, nowMs, events, waitsMs }: StatusContext,
  name: string,
  before: SubsetStatus | undefined,
  isStuck: boolean,
  isLast: boolean,
): NonNullable<SubsetStatus["conditions"]>[number] {
  const old = before?.conditions?.find(({ type }) => type === CONDITION);
  const next = (status: "True" | "False"): NonNullable<typeof old> =>
    old?.status === status ? old : { type: CONDITION, status, lastTransitionTime: formatTime(nowMs) };
  if (isStuck) return next("False");
  if (old?.status !== "False" || isLast) return next("True");
  const leftMs = timeMs(old.lastTransitionTime) + AVOIDANCE_MS - nowMs;
  if (leftMs >= 0) {
    waitsMs.push(leftMs);
    return old;
  }
  const { metadata } = spread;
  events.push({
    type: "Normal",
    reason: "RecoverSchedulable",
    message: `Subset ${name} of WorkloadSpread ${metadata.namespace ?? ""}/${metadata.name} is recovered from unschedulable to schedulable`,
  });
  return next("True");
}
