/**
 * Decides which members an application leaves because it has been unhealthy there for longer than its policy tolerates.
 * Pure.
 *
 * The start of an unhealthy period is carried from one decision to the next and stored on the binding: a restart of the
 * hub does not restart the timer. An application with unknown health keeps its state, and is not moved.
 */
import type { ResourceBinding } from "@flotilla/karmada";
import { formatTime, isObject, type DeepReadonly } from "@flotilla/base";
import { APPLICATION_FAILURE, tolerationMsOf } from "../moves/move-pauses.ts";
import { isFinishedRun } from "../jobs/finished-run.ts";
import type { Departure } from "./departure.ts";

type Binding = DeepReadonly<ResourceBinding>;

/** By cluster, in milliseconds. */
export type UnhealthySince = ReadonlyMap<string, number>;

export interface ApplicationPlan {
  readonly since: UnhealthySince;
  readonly due: readonly Departure[];
  /** When the next toleration ends. */
  readonly requeueAfterMs?: number;
}

export const WELL: UnhealthySince = new Map();

export function planApplicationFailover(
  binding: Binding,
  since: UnhealthySince,
  producer: string,
  nowMs: number,
): ApplicationPlan {
  const { spec, status } = binding;
  const behavior = spec.failover?.application;
  // A failed Job has failed; elsewhere it would start from the beginning.
  if (!behavior || isFinishedRun(binding)) return { since: WELL, due: [] };
  const tolerationMs = tolerationMsOf(binding);
  const { purgeMode = "Gracefully", gracePeriodSeconds, statePreservation } = behavior;
  const health = new Map(status?.aggregatedStatus?.map((item) => [item.clusterName, item.health]));
  const leaving = new Set(spec.gracefulEvictionTasks?.map(({ fromCluster }) => fromCluster));
  const next = new Map<string, number>();
  const due: Departure[] = [];
  let nextMs = Infinity;
  for (const { name } of spec.clusters ?? []) {
    const isUnhealthy = health.get(name) === "Unhealthy";
    const beganMs = since.get(name) ?? (isUnhealthy ? nowMs : undefined);
    if (beganMs === undefined || health.get(name) === "Healthy" || leaving.has(name)) continue;
    next.set(name, beganMs);
    if (!isUnhealthy) continue;
    const leftMs = beganMs + tolerationMs - nowMs;
    if (leftMs > 0) nextMs = Math.min(nextMs, leftMs);
    else {
      due.push({
        cluster: name,
        reason: APPLICATION_FAILURE,
        message: `unhealthy on ${name} since ${formatTime(beganMs)}, longer than the tolerated ${tolerationMs / 1000} s`,
        producer,
        purgeMode,
        gracePeriodSeconds,
        rules: statePreservation ? statePreservation.rules : undefined,
      });
    }
  }
  return { since: next.size > 0 ? next : WELL, due, requeueAfterMs: Number.isFinite(nextMs) ? nextMs : undefined };
}

/** Parsed from the annotation. An invalid value counts as empty. */
export function parseSince(text: string | undefined): UnhealthySince {
  if (text === undefined) return WELL;
  try {
    const parsed: unknown = JSON.parse(text);
    if (!isObject(parsed)) return WELL;
    return new Map(
      Object.entries(parsed).flatMap(([cluster, time]) =>
        typeof time === "string" && Number.isFinite(Date.parse(time)) ? [[cluster, Date.parse(time)] as const] : [],
      ),
    );
  } catch (error) {
    if (error instanceof SyntaxError) return WELL;
    throw error;
  }
}

/** Shorter periods are not worth a write: every workload is unhealthy while it starts. */
const WORTH_KEEPING_MS = 5_000;

export interface SinceRecord {
  /** The annotation; null removes it. Unset when it is up to date. */
  readonly text?: string | null;
  /** When a period that was too short so far must be stored. */
  readonly requeueAfterMs?: number;
}

/** The periods to store on the binding: those that have lasted long enough, and those already stored. */
export function planSinceRecord(since: UnhealthySince, before: string | undefined, nowMs: number): SinceRecord {
  const kept = parseSince(before);
  let nextMs = Infinity;
  const record: [string, string][] = [];
  for (const [cluster, beganMs] of since) {
    const leftMs = kept.has(cluster) ? 0 : beganMs + WORTH_KEEPING_MS - nowMs;
    if (leftMs > 0) nextMs = Math.min(nextMs, leftMs);
    else record.push([cluster, formatTime(beganMs)]);
  }
  const text =
    record.length > 0 ? JSON.stringify(Object.fromEntries(record.sort(([a], [b]) => (a < b ? -1 : 1)))) : null;
  return {
    text: text !== (before ?? null) ? text : undefined,
    requeueAfterMs: Number.isFinite(nextMs) ? nextMs : undefined,
  };
}
