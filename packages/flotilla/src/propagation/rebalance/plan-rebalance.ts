/**
 * Decides which workloads of a WorkloadRebalancer are still pending, and computes its status. Pure.
 *
 * A rebalancer runs once: a workload with a binding is scheduled afresh, one without a binding has failed permanently.
 * Workloads added later are processed; successful ones stay listed.
 */
import type { WorkloadRebalancer } from "@flotilla/karmada";
import { equalJson, formatTime, type DeepReadonly } from "@flotilla/base";

type Rebalancer = DeepReadonly<WorkloadRebalancer>;
type Status = NonNullable<WorkloadRebalancer["status"]>;
export type Observed = NonNullable<Status["observedWorkloads"]>[number];
export type Workload = DeepReadonly<Observed["workload"]>;

/** The result for a workload; undefined for one that must be retried. */
export type Outcome = "Successful" | "NotFound" | undefined;

const idOf = ({ apiVersion, kind, namespace = "", name }: Workload): string =>
  `${apiVersion} ${kind} ${namespace} ${name}`;

/** The workloads as listed in the status, each once, in Karmada's order. */
export function listWorkloads({ spec, status }: Rebalancer): DeepReadonly<Observed>[] {
  const wanted = new Map(spec.workloads.map((workload) => [idOf(workload), workload]));
  const known = new Map(status?.observedWorkloads?.map((item) => [idOf(item.workload), item]));
  const kept = [...known].filter(([id, { result }]) => wanted.has(id) || result === "Successful");
  const added = [...wanted].filter(([id]) => !known.has(id)).map(([id, workload]) => [id, { workload }] as const);
  return [...kept, ...added].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
}

export function isPending({ result }: DeepReadonly<Observed>): boolean {
  return result === undefined;
}

/** The status after a round; the same object when nothing changed. It is finished once every workload has a result. */
export function planStatus(
  { metadata, status }: Rebalancer,
  workloads: readonly DeepReadonly<Observed>[],
  outcomes: ReadonlyMap<DeepReadonly<Observed>, Outcome>,
  nowMs: number,
): DeepReadonly<Status> {
  const observedWorkloads = workloads.map((item) => {
    const outcome = outcomes.get(item);
    if (outcome === "Successful") return { workload: item.workload, result: "Successful" };
    return outcome === "NotFound"
      ? { workload: item.workload, result: "Failed", reason: "ReferencedBindingNotFound" }
      : item;
  });
  const next = {
    observedWorkloads,
    observedGeneration: metadata.generation,
    finishTime: status?.finishTime ? status.finishTime : undefined,
  };
  if (status && equalJson(next, status)) return status;
  return observedWorkloads.some(isPending) ? next : { ...next, finishTime: formatTime(nowMs) };
}

/** Time until the rebalancer is deleted: 0 when its TTL expired, undefined when it stays. */
export function timeLeftMs({ spec }: Rebalancer, status: DeepReadonly<Status>, nowMs: number): number | undefined {
  if (spec.ttlSecondsAfterFinished === undefined || !status.finishTime || status.observedWorkloads?.some(isPending))
    return undefined;
  return Math.max(0, Date.parse(status.finishTime) + spec.ttlSecondsAfterFinished * 1000 - nowMs);
}

/** A later trigger is already set: this one is not needed. */
export function needsTrigger(triggeredAt: string | undefined, createdAt: string): boolean {
  return triggeredAt === undefined || Date.parse(createdAt) > Date.parse(triggeredAt);
}
