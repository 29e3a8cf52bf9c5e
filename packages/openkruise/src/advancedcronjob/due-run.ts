/**
 * Which run of an AdvancedCronJob is due, and when the next one is.
 *
 * After a pause only the latest missed run is started. Unlike a CronJob, an AdvancedCronJob that missed more than a
 * hundred runs starts none until its schedule, its deadline or its state changes: the clock may be wrong.
 */
import type { DeepReadonly } from "@flotilla/base";
import { parseSchedule, zonedSchedule } from "@flotilla/kubernetes";
import type { AdvancedCronJob } from "./advancedcronjob-kind.ts";

const MAX_MISSED = 100;

export interface RunTimes {
  /** The latest run that should have been started, if any. */
  dueMs?: number;
  /** The next run; undefined for a schedule that never comes, such as 31 February. */
  nextMs?: number;
}

/** The times, or why none can be determined. `lastMs` is the scheduled time of the last run, or the creation. */
export function planRunTimes(
  { schedule: text, timeZone, startingDeadlineSeconds }: DeepReadonly<AdvancedCronJob>["spec"],
  lastMs: number,
  nowMs: number,
): RunTimes | { reason: string; message: string } {
  const schedule = parseSchedule(zonedSchedule(text, timeZone));
  if (typeof schedule === "string")
    return { reason: "UnparseableSchedule", message: `unparsable schedule ${JSON.stringify(text)}: ${schedule}` };
  const sinceMs =
    startingDeadlineSeconds === undefined ? lastMs : Math.max(lastMs, nowMs - startingDeadlineSeconds * 1000);
  const nextMs = schedule.next(nowMs);
  let dueMs: number | undefined;
  let missed = 0;
  for (let time = schedule.next(sinceMs); time !== undefined && time <= nowMs; time = schedule.next(time)) {
    dueMs = time;
    missed += 1;
    if (missed > MAX_MISSED)
      return {
        reason: "TooManyMissedTimes",
        message: `too many missed start times (> ${MAX_MISSED}). Set or decrease .spec.startingDeadlineSeconds or check clock skew`,
      };
  }
  return { dueMs, nextMs };
}
