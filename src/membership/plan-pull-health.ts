/**
 * Whether a member that pulls is still there. Its agent says how the member is, and renews a Lease; when neither moves
 * for a while, nobody knows, and the Cluster says so. Pure.
 *
 * What counts is when the hub saw a change, by its own clock: the clock of a member may be wrong.
 */
import type { Cluster } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { findCondition } from "../machinery/index.ts";
import type { NextCondition } from "../machinery/index.ts";

/** As Karmada's controller manager has them: an agent renews every 10 s, so three renewals in a row were lost. */
export const PULL_TIMES: PullTimes = { graceMs: 40_000, startupGraceMs: 60_000 };

export interface PullTimes {
  /** How long an agent that has reported may be silent. */
  graceMs: number;
  /** How long a new member has until its first report. */
  startupGraceMs: number;
}

/** The last sign of life of an agent. */
export interface Heartbeat {
  /** What was there when it was seen: the Lease's time and the condition. */
  sign: string;
  atMs: number;
}

/** After a look at the Cluster and its Lease. A member that has never reported counts from when it was made. */
export function nextHeartbeat(
  before: Heartbeat | undefined,
  { metadata, status }: DeepReadonly<Cluster>,
  renewTime: string | undefined,
  nowMs: number,
): Heartbeat {
  const ready = findCondition(status?.conditions ?? [], "Ready");
  // What the hub itself says about a silent agent is no sign of life.
  const said = ready === undefined || ready.status === "Unknown" ? "" : `${ready.status} ${ready.lastTransitionTime}`;
  const sign = `${renewTime ?? ""} ${said}`;
  if (before?.sign === sign) return before;
  if (before === undefined && ready === undefined && renewTime === undefined)
    return { sign, atMs: Date.parse(metadata.creationTimestamp ?? "") || nowMs };
  // The hub's own verdict changes the sign and nothing else.
  if (before !== undefined && said === "" && before.sign.startsWith(`${renewTime ?? ""} `))
    return { sign, atMs: before.atMs };
  return { sign, atMs: nowMs };
}

/** The verdict, or how long until it is due; neither when the Cluster says so already. */
export function planPullHealth(
  { status }: DeepReadonly<Cluster>,
  { atMs }: Heartbeat,
  { graceMs, startupGraceMs }: PullTimes,
  nowMs: number,
): { condition?: NextCondition; waitMs?: number } {
  const ready = findCondition(status?.conditions ?? [], "Ready");
  if (ready?.status === "Unknown") return {};
  const waitMs = atMs + (ready ? graceMs : startupGraceMs) - nowMs;
  if (waitMs > 0) return { waitMs };
  return {
    condition: ready
      ? {
          type: "Ready",
          status: "Unknown",
          reason: "ClusterStatusUnknown",
          message: "Cluster status controller stopped posting cluster status.",
        }
      : {
          type: "Ready",
          status: "Unknown",
          reason: "ClusterStatusNeverUpdated",
          message: "Cluster status controller never posted cluster status.",
        },
  };
}
