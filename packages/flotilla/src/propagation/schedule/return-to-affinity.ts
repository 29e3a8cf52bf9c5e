/**
 * Returns to an earlier affinity of a placement. Karmada falls back from one to the next and never returns.
 *
 * A return moves a running workload, so it happens only when the policy enables it, only as a whole (the earlier
 * affinity must take all replicas), and only after the given time has passed since the last scheduling, so that a
 * flapping member does not move the workload back and forth. The old clusters are evicted gracefully: their copies run
 * until the replacement is healthy.
 */
import type { GracefulEvictionTask } from "@flotilla/apimachinery/facts/work-karmada-v1alpha2.ts";
import { formatTime } from "@flotilla/base";
import type { AssignedCluster } from "./assign.ts";
import type { BindingSpecView } from "./framework.ts";
import type { BindingView } from "./needs-scheduling.ts";
import { RETURN_AFTER_SECONDS } from "../../flotilla-names.ts";

const WHOLE_SECONDS = /^\d{1,9}$/;

/** When the binding may return; undefined when it is not enabled or the annotation is not a number of seconds. */
export function returnDue(
  { annotations }: BindingView["metadata"],
  lastScheduledTime: string | undefined,
  nowMs: number,
): number | undefined {
  const seconds = annotations?.[RETURN_AFTER_SECONDS];
  if (seconds === undefined || !WHOLE_SECONDS.test(seconds)) return undefined;
  const last = lastScheduledTime === undefined ? nowMs : Date.parse(lastScheduledTime);
  return (Number.isNaN(last) ? nowMs : last) + Number(seconds) * 1000;
}

export function leaveGracefully(
  { clusters = [] }: BindingSpecView,
  next: readonly AssignedCluster[],
  affinityName: string | undefined,
  nowMs: number,
): GracefulEvictionTask[] {
  const stays = new Set(next.map(({ name }) => name));
  const before = clusters.map(({ name }) => name);
  return clusters
    .filter(({ name }) => !stays.has(name))
    .map(({ name, replicas }) => ({
      fromCluster: name,
      purgeMode: "Gracefully" as const,
      replicas,
      reason: "AffinityReturned",
      message: `the clusters of affinity ${affinityName ?? ""} fit again`,
      producer: "Scheduler",
      creationTimestamp: formatTime(nowMs),
      clustersBeforeFailover: before,
    }));
}
