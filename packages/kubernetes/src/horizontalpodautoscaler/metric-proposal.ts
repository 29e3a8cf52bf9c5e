/** What a metric of an autoscaler is computed from, and what it proposes. */
import type { ResourceUsage } from "../workloads/dependencies.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import type { ReadonlyAutoscaler } from "./scaling-limits.ts";
import type { UsageInput } from "./scaling-usage.ts";
import type { MetricValues } from "./metric-values.ts";

export type MetricStatus = NonNullable<NonNullable<ReadonlyAutoscaler["status"]>["currentMetrics"]>[number];

export interface MetricInput {
  cluster: string;
  namespace: string;
  pods: readonly ReadonlyPod[];
  currentReplicas: number;
  /** Pods that the target reports, 0 if unknown: a quota can keep them below its replicas. */
  reportedReplicas: number;
  podsPerReplica: number;
  tolerances: UsageInput["tolerances"];
  usage: ResourceUsage | undefined;
  /** Custom and external metrics; if unset, the cluster serves none. */
  values: MetricValues | undefined;
  nowMs: number;
}

export type MetricProposal =
  | { replicas: number; name: string; status: MetricStatus }
  /** `reason` and `why` for the condition and the event, `problem` with upstream's wrapping. */
  | { reason: string; why: string; problem: string };
