/**
 * Node health and its consequences: conditions and taints, as Kubernetes' node lifecycle controller maintains them.
 * Pure. A node that lost its kubelet counts as healthy for a grace period; after that its state is Unknown.
 */
import { NOT_READY_TAINT, UNREACHABLE_TAINT, UNSCHEDULABLE_TAINT } from "@flotilla/kubernetes";
import type { Node } from "@flotilla/kubernetes";
import type { NodeCondition, Taint } from "@flotilla/apimachinery/facts/core-v1.ts";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { healthyConditions } from "./nodes.ts";

type ReadonlyNode = DeepReadonly<Node>;
type Condition = DeepReadonly<NodeCondition>;
type ReadonlyTaint = DeepReadonly<Taint>;

/** Conditions that are bad when they are True, with their taint. */
const PRESSURES: Readonly<Record<string, string>> = {
  MemoryPressure: "node.kubernetes.io/memory-pressure",
  DiskPressure: "node.kubernetes.io/disk-pressure",
  PIDPressure: "node.kubernetes.io/pid-pressure",
  NetworkUnavailable: "node.kubernetes.io/network-unavailable",
};
const OURS = new Set([NOT_READY_TAINT, UNREACHABLE_TAINT, UNSCHEDULABLE_TAINT, ...Object.values(PRESSURES)]);
const SILENT = "NodeStatusUnknown";

/** The desired conditions of the node; returns the same array when they are correct. */
export function planConditions({ status }: ReadonlyNode, isSilent: boolean, nowMs: number): readonly Condition[] {
  const conditions = status?.conditions ?? [];
  if (isSilent) {
    if (conditions.every(isUnknown)) return conditions;
    const lastTransitionTime = formatTime(nowMs);
    return conditions.map((condition) =>
      isUnknown(condition)
        ? condition
        : {
            ...condition,
            status: "Unknown",
            reason: SILENT,
            message: "Kubelet stopped posting node status.",
            lastTransitionTime,
          },
    );
  }
  // Conditions set by users are preserved; only our own changes are undone.
  if (!conditions.some(isUnknown)) return conditions;
  const healthy = new Map(healthyConditions(nowMs).map((condition) => [condition.type, condition]));
  return conditions.map((condition) => (isUnknown(condition) ? (healthy.get(condition.type) ?? condition) : condition));
}

const isUnknown = ({ status, reason }: Condition): boolean => status === "Unknown" && reason === SILENT;

/**
 * The taints that follow from conditions and the cordon, plus those of other writers; undefined when they are already
 * correct.
 */
export function planTaints(
  { spec }: ReadonlyNode,
  conditions: readonly Condition[],
  nowMs: number,
): readonly ReadonlyTaint[] | undefined {
  const taints = spec?.taints ?? [];
  const wanted: ReadonlyTaint[] = [];
  const ready = conditions.find(({ type }) => type === "Ready")?.status;
  if (ready !== undefined && ready !== "True") {
    const key = ready === "Unknown" ? UNREACHABLE_TAINT : NOT_READY_TAINT;
    wanted.push({ key, effect: "NoSchedule" }, { key, effect: "NoExecute" });
  }
  for (const { type, status } of conditions) {
    const key = PRESSURES[type];
    if (key !== undefined && status === "True") wanted.push({ key, effect: "NoSchedule" });
  }
  if (spec?.unschedulable) wanted.push({ key: UNSCHEDULABLE_TAINT, effect: "NoSchedule" });
  const isWanted = (taint: ReadonlyTaint): boolean =>
    wanted.some(({ key, effect }) => key === taint.key && effect === taint.effect);
  const kept = taints.filter((taint) => !OURS.has(taint.key) || isWanted(taint));
  const missing = wanted.filter(
    ({ key, effect }) => !taints.some((taint) => taint.key === key && taint.effect === effect),
  );
  if (kept.length === taints.length && missing.length === 0) return undefined;
  return [...kept, ...missing.map((taint) => ({ ...taint, timeAdded: formatTime(nowMs) }))];
}
