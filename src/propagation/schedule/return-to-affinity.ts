/**
 * The way back to an earlier one of a placement's affinities. Karmada falls back from one to the next and never
 * returns.
 *
 * A return moves a running workload, so it happens only when the policy asks for it, only as a whole (the earlier
 * affinity must take all replicas), and not before the given time has passed since the binding was last scheduled, so
 * that a member that comes and goes does not make the workload follow. The clusters that are left are evicted
 * gracefully: what runs there goes on until the replacement is healthy.
 */
import type { GracefulEvictionTask } from "../../api/index.ts";
import { formatTime } from "../../base/index.ts";
import { RETURN_AFTER_SECONDS } from "../well-known.ts";
import type { AssignedCluster } from "./assign.ts";
import type { BindingSpecView } from "./framework.ts";
import type { BindingView } from "./needs-scheduling.ts";

const WHOLE_SECONDS = /^\d{1,9}$/;

/** When the binding may return; undefined when nobody asked for it or the annotation is no number of seconds. */
export function wayBack(
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
