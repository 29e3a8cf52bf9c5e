/**
 * Which run of a CronJob is due, and when to requeue.
 *
 * After a pause only the latest missed run is started, and more than a hundred missed ones cause a warning: the clock
 * may be wrong. The number of missed runs is estimated from the distance of two runs, as in upstream.
 */
import type { CronJob } from "./cronjob-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { Schedule } from "./cron.ts";
import { timeMs } from "../pod/pod-state.ts";

export type ReadonlyCronJob = DeepReadonly<CronJob>;

const MANY_MISSED = 100;
/** Clocks of different machines differ a little; a run that is checked too early would wait for the next check. */
const LATE_MS = 100;
const NEVER = "time difference between two schedules is less than 1 second";

export interface Due {
  /** The latest run that should have been started, if any. */
  timeMs?: number;
  missedMany: boolean;
}

/** The due run, or the error for a valid schedule that never occurs. */
export function dueRun(cronJob: ReadonlyCronJob, schedule: Schedule, nowMs: number): Due | string {
  const latest = latestRun(cronJob, schedule, nowMs, true);
  if (typeof latest === "string") return latest;
  return { timeMs: latest.timeMs, missedMany: latest.missed > MANY_MISSED };
}

/** Milliseconds until the next run. */
export function nextRunInMs(cronJob: ReadonlyCronJob, schedule: Schedule, nowMs: number): number | undefined {
  const latest = latestRun(cronJob, schedule, nowMs, false);
  const from = typeof latest === "string" ? nowMs : (latest.timeMs ?? (latest.missed > 0 ? nowMs : latest.sinceMs));
  const next = schedule.next(from);
  return next === undefined ? undefined : Math.max(0, next + LATE_MS - nowMs);
}

function latestRun(
  { metadata, spec, status }: ReadonlyCronJob,
  schedule: Schedule,
  nowMs: number,
  withDeadline: boolean,
): { sinceMs: number; timeMs?: number; missed: number } | string {
  let sinceMs = timeMs(status?.lastScheduleTime ?? metadata.creationTimestamp);
  if (withDeadline && spec.startingDeadlineSeconds !== undefined)
    sinceMs = Math.max(sinceMs, nowMs - spec.startingDeadlineSeconds * 1000);
  const first = schedule.next(sinceMs);
  if (first === undefined) return NEVER;
  if (nowMs < first) return { sinceMs, missed: 0 };
  const second = schedule.next(first);
  if (second !== undefined && nowMs < second) return { sinceMs, timeMs: first, missed: 0 };
  const distanceMs = second === undefined ? 0 : Math.round((second - first) / 1000) * 1000;
  if (distanceMs < 1000) return NEVER;
  const missed = Math.floor((nowMs - first) / distanceMs) + 1;
  // Runs need not be evenly spaced, so the search begins one interval early.
  let latest: number | undefined;
  for (
    let time = schedule.next(first + (missed - 2) * distanceMs);
    time !== undefined && time <= nowMs;
    time = schedule.next(time)
  )
    latest = time;
  return { sinceMs, timeMs: latest, missed };
}
