/**
 * Decides whether a member is ready. A single probe is not enough: a transition needs consistent probes for a
 * threshold, so that a network hiccup moves no workload. Pure.
 */
import { RESPONDING } from "@flotilla/karmada";
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { findCondition } from "@flotilla/apimachinery";
import type { NextCondition } from "@flotilla/apimachinery";

export interface Thresholds {
  /** How long a member that is not ready must answer before it becomes ready. */
  successMs: number;
  /** How long a ready member must fail to answer before it becomes not ready. */
  failureMs: number;
}

/** The last probe result of a member, and since when probes have agreed with it. */
export interface Trend {
  isReady: boolean;
  sinceMs: number;
}

type ConditionNow = DeepReadonly<Pick<NextCondition, "status" | "reason" | "message">>;

/** `unauthorized`: it rejects the hub's credentials, so the hub can neither read nor write anything there. */
export type Health = "ready" | "unhealthy" | "unauthorized" | "unreachable" | "uncollected";

const VERDICTS: Readonly<Record<Health, { reason: string; message: string }>> = {
  ready: { reason: "ClusterReady", message: "cluster is healthy and ready to accept workloads" },
  unhealthy: { reason: "ClusterNotReady", message: "cluster is reachable but health endpoint responded without ok" },
  unauthorized: { reason: "ClusterNotReady", message: "cluster is reachable but health endpoint responded without ok" },
  unreachable: { reason: "ClusterNotReachable", message: "cluster is not reachable" },
  uncollected: { reason: "StatusCollectionFailed", message: "failed to create a ClusterClient" },
};

/** How the failure of a request to a member that the hub has cut off begins, after its name. */
export const CUT_OFF = "is cut off, because it exceeded a limit";
const isCutOff = (message: string | undefined): boolean => message?.includes(CUT_OFF) === true;

/** Starts the message of a member that answers again and is reported NotReady until the threshold has passed. */
export const ANSWERS_AGAIN = "cluster answers again";

/** The trend after a probe. */
export function nextTrend(before: Trend | undefined, health: Health, nowMs: number): Trend {
  const isReady = health === "ready";
  return before?.isReady === isReady ? before : { isReady, sinceMs: nowMs };
}

/** One probe may be lost. */
export const PROBES_BEFORE_SILENT = 2;

/**
 * Whether what the member last reported may have changed since. `unanswered`: how many probes in a row have had no
 * answer. A member that the hub cannot ask at all has none.
 */
export const isSilent = (health: Health, unanswered: number): boolean =>
  health === "uncollected" ||
  health === "unauthorized" ||
  (health === "unreachable" && unanswered >= PROBES_BEFORE_SILENT);

/** A member that the hub has cut off answers probes between two cuts. */
export const endsSilence = (ready: Partial<ConditionNow> | undefined, health: Health): boolean =>
  (health === "ready" || health === "unhealthy") && (ready?.status === "True" || !isCutOff(ready?.message));

/** In the message about a member that rejects the hub's token. */
export const REFUSES_TOKEN = "rejects the hub's token";

/** Whether a message is about a member that responds, and rejects the hub: it does not come back by itself. */
export const refusesToken = (message: string | undefined): boolean => message?.includes(REFUSES_TOKEN) === true;

/** The condition `Responding` of a silent member. */
export function planSilence({ health, detail }: { health: Health; detail: string }): NextCondition {
  const { reason, message } = VERDICTS[health];
  return {
    type: RESPONDING,
    status: "False",
    reason,
    message: detail === "" ? message : `${message}: ${detail}`,
  };
}

/** How long a member has been in its state, and how long it must be until the condition follows. */
export interface ReadyTimes {
  trend: Trend;
  thresholds: Thresholds;
  nowMs: number;
}

/**
 * The condition `Ready` after a probe; undefined keeps the current one. A member without the condition gets it at once;
 * a condition from before a restart of this process stays until the threshold has passed.
 */
export function planReady(
  cluster: DeepReadonly<Cluster>,
  { health, detail }: { health: Health; detail: string },
  { trend, thresholds, nowMs }: ReadyTimes,
): NextCondition | undefined {
  const current = findCondition(cluster.status?.conditions ?? [], "Ready");
  const isReady = health === "ready";
  const wasReady = current?.status === "True";
  const thresholdMs = isReady ? thresholds.successMs : thresholds.failureMs;
  if (current && isReady !== wasReady && nowMs - trend.sinceMs < thresholdMs)
    return isReady ? planRecovering(current, thresholdMs) : undefined;
  const { reason, message } = VERDICTS[health];
  const status = isReady ? "True" : "False";
  const next = { type: "Ready", status, reason, message: detail === "" ? message : `${message}: ${detail}` } as const;
  if (current?.status !== status || current.reason !== reason) return next;
  // A member that began to answer and failed again.
  if (isAnswering(current.message)) return next;
  // Failure messages vary between probes; the first one is kept, so that an outage is one write. That the hub has cut
  // the member off is another cause, which an administrator must see, and so is its end.
  return isCutOff(current.message) === isCutOff(next.message) || isReady ? undefined : next;
}

const isAnswering = (message: string | undefined): boolean => message?.startsWith(ANSWERS_AGAIN) === true;

/**
 * The cause of an outage that is over is not repeated. A member that the hub has cut off answers probes between two
 * cuts, so its cause stays until it is ready. `Unknown` is set by the hub for a member whose agent does not
 * report, and stays as it is.
 */
function planRecovering({ status, reason, message }: ConditionNow, successMs: number): NextCondition | undefined {
  if (status !== "False" || isAnswering(message) || isCutOff(message)) return undefined;
  return {
    type: "Ready",
    status,
    reason,
    message: `${ANSWERS_AGAIN}; it is ready after it has answered for ${successMs / 1000} s`,
  };
}
