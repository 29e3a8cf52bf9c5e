/**
 * Whether a member counts as ready. A single probe says little: a change of mind needs probes of the same kind for as
 * long as a threshold says, so that a hiccup of the network moves no workload. Pure.
 */
import type { Cluster } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { findCondition } from "../machinery/index.ts";
import type { NextCondition } from "../machinery/index.ts";

export interface Thresholds {
  /** How long a member that was not ready must answer before it is. */
  successMs: number;
  /** How long a ready member must not answer before it is not. */
  failureMs: number;
}

/** The last probe of a member, and since when probes have said the same. */
export interface Trend {
  isReady: boolean;
  sinceMs: number;
}

export type Health = "ready" | "unwell" | "unreachable" | "uncollected";

const VERDICTS: Readonly<Record<Health, { reason: string; message: string }>> = {
  ready: { reason: "ClusterReady", message: "cluster is healthy and ready to accept workloads" },
  unwell: { reason: "ClusterNotReady", message: "cluster is reachable but health endpoint responded without ok" },
  unreachable: { reason: "ClusterNotReachable", message: "cluster is not reachable" },
  uncollected: { reason: "StatusCollectionFailed", message: "failed to create a ClusterClient" },
};

/** The trend after a probe. */
export function nextTrend(before: Trend | undefined, health: Health, nowMs: number): Trend {
  const isReady = health === "ready";
  return before?.isReady === isReady ? before : { isReady, sinceMs: nowMs };
}

/**
 * The condition `Ready` after a probe; undefined keeps the one that is there. A member without a verdict gets one at
 * once, and one that has a verdict from an earlier life of this process keeps it until the threshold is over.
 */
export function planReady(
  cluster: DeepReadonly<Cluster>,
  health: Health,
  detail: string,
  trend: Trend,
  thresholds: Thresholds,
  nowMs: number,
): NextCondition | undefined {
  const current = findCondition(cluster.status?.conditions ?? [], "Ready");
  const isReady = health === "ready";
  const wasReady = current?.status === "True";
  const thresholdMs = isReady ? thresholds.successMs : thresholds.failureMs;
  if (current && isReady !== wasReady && nowMs - trend.sinceMs < thresholdMs) return undefined;
  const { reason, message } = VERDICTS[health];
  const status = isReady ? "True" : "False";
  // The wording of a failure varies from probe to probe; the first one is kept, so that an outage is one write.
  if (current?.status === status && current.reason === reason) return undefined;
  return { type: "Ready", status, reason, message: detail === "" ? message : `${message}: ${detail}` };
}
