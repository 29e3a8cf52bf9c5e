/**
 * Detects pull members whose agent stopped reporting. An agent updates the Ready condition and renews a Lease; when
 * neither changes for a while, the hub sets Ready to Unknown. Pure.
 *
 * The hub compares the times at which it observed changes, by its own clock: a member's clock may be wrong.
 */
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition } from "@flotilla/apimachinery";
import type { NextCondition } from "@flotilla/apimachinery";

/** Karmada's defaults: an agent renews every 10 s, so three consecutive renewals were lost. */
export const PULL_TIMES: PullTimes = { graceMs: 40_000, startupGraceMs: 60_000 };

export interface PullTimes {
  /** How long an agent may stop reporting after its first report. */
  graceMs: number;
  /** How long a new member has until its first report. */
  startupGraceMs: number;
}

/** The last heartbeat of an agent. */
export interface Heartbeat {
  /** The state at that time: the Lease's renewTime and the condition. */
  sign: string;
  atMs: number;
}

/** The heartbeat after reading the Cluster and its Lease. A member that has never reported counts from its creation. */
export function nextHeartbeat(
  before: Heartbeat | undefined,
  { metadata, status }: DeepReadonly<Cluster>,
  renewTime: string | undefined,
  nowMs: number,
): Heartbeat {
  const ready = findCondition(status?.conditions ?? [], "Ready");
  // A condition that the hub itself wrote about a silent agent is not a heartbeat.
  const said = ready === undefined || ready.status === "Unknown" ? "" : `${ready.status} ${ready.lastTransitionTime}`;
  const sign = `${renewTime ?? ""} ${said}`;
  if (before?.sign === sign) return before;
  if (before === undefined && ready === undefined && renewTime === undefined)
    return { sign, atMs: Date.parse(metadata.creationTimestamp ?? "") || nowMs };
  // The hub's own condition changes the sign and nothing else.
  if (before !== undefined && said === "" && before.sign.startsWith(`${renewTime ?? ""} `))
    return { sign, atMs: before.atMs };
  return { sign, atMs: nowMs };
}

/** The condition to write, or the time until it is due; neither when the Cluster already has it. */
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
