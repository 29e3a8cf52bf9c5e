/** A cluster that a resource should leave, with reason and mode; and the eviction task for it. Pure. */
import type { GracefulEvictionTask } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import type { ResourceBinding } from "@flotilla/karmada";
import { formatTime, type DeepReadonly } from "@flotilla/base";
import { preserveState, type StateRule } from "./preserve-state.ts";

export interface Departure {
  readonly cluster: string;
  readonly reason: "ApplicationFailure" | "TaintUntolerated";
  /** The cause, shown to users later. */
  readonly message: string;
  readonly producer: string;
  /** A user drains the cluster: not subject to the eviction rate, which bounds the damage of faults. */
  readonly isDrain?: boolean;
  readonly purgeMode: NonNullable<GracefulEvictionTask["purgeMode"]>;
  readonly gracePeriodSeconds?: number;
  /** State that the new copy needs from the old one. */
  readonly rules?: readonly StateRule[];
}

/** Limits of the API. */
const MAX_MESSAGE = 1024;

/** The task, or why it cannot be created: the resource stays while state that must be preserved cannot be read. */
export function planTask(
  { spec, status }: DeepReadonly<ResourceBinding>,
  departure: Departure,
  nowMs: number,
): { task: GracefulEvictionTask } | { problem: string } {
  const { cluster, reason, message, producer, purgeMode, gracePeriodSeconds, rules = [] } = departure;
  const replicas = spec.clusters?.find(({ name }) => name === cluster)?.replicas ?? 0;
  const state =
    rules.length > 0
      ? preserveState(rules, status?.aggregatedStatus?.find(({ clusterName }) => clusterName === cluster)?.status)
      : undefined;
  if (state && "problem" in state) return state;
  return {
    task: {
      fromCluster: cluster,
      purgeMode,
      replicas: replicas > 0 ? replicas : undefined,
      reason,
      message: message.slice(0, MAX_MESSAGE),
      producer,
      gracePeriodSeconds,
      suppressDeletion: purgeMode === "Never" || undefined,
      preservedLabelState: state ? state.labels : undefined,
      creationTimestamp: formatTime(nowMs),
      clustersBeforeFailover: (spec.clusters ?? []).map(({ name }) => name),
    },
  };
}
