/**
 * Runs AdvancedCronJobs on recorded inputs and returns results in the format of the recordings
 * (`openkruise-cron.jsonl`). Only for tests and `npm run golden`.
 */
import { formatTime } from "@flotilla/base";
import { parseSchedule, zonedSchedule } from "@flotilla/kubernetes";
import { RECORDED_AT } from "../../testdata/read-cases.ts";
import type { RecordedRun } from "../../testdata/read-cases.ts";
import { planAdvancedCronJob } from "../plan-advancedcronjob.ts";
import type { ReadonlyAdvancedCronJob } from "../plan-advancedcronjob.ts";
import type { ReadonlyRun } from "../run-kinds.ts";

/** How many runs the recordings list. */
const LISTED = 4;

interface NextInput {
  schedule?: string;
  timeZone?: string;
  after: string;
}

interface ReconcileInput {
  advancedCronJob: ReadonlyAdvancedCronJob;
  broadcastJobs?: ReadonlyRun[];
  jobs?: ReadonlyRun[];
}

export const cronCases: Readonly<Record<string, RecordedRun>> = {
  next: ({ schedule: text = "", timeZone, after }: NextInput) => {
    const effectiveSchedule = zonedSchedule(text, timeZone);
    const schedule = parseSchedule(effectiveSchedule);
    if (typeof schedule === "string") return { effectiveSchedule, error: schedule };
    const times: string[] = [];
    let time: number | undefined = Date.parse(after);
    while (times.length < LISTED && time !== undefined) {
      time = schedule.next(time);
      if (time !== undefined) times.push(formatTime(time));
    }
    return { effectiveSchedule, times };
  },

  reconcile: ({ advancedCronJob, broadcastJobs = [], jobs = [] }: ReconcileInput) => {
    const typed = (kind: string, apiVersion: string, runs: readonly ReadonlyRun[]): ReadonlyRun[] =>
      runs.map((run) => ({ ...run, apiVersion, kind }));
    const runs = [...typed("BroadcastJob", "apps.kruise.io/v1beta1", broadcastJobs), ...typed("Job", "batch/v1", jobs)];
    const cronJob = { ...advancedCronJob, apiVersion: "apps.kruise.io/v1beta1", kind: "AdvancedCronJob" };
    const plan = planAdvancedCronJob(cronJob, runs, RECORDED_AT);
    return {
      created: plan.start
        ? [plan.start].map(({ metadata: { name, labels = null, annotations, ownerReferences } }) => ({ name, labels, annotations, ownerReferences }))
        : [],
      deleted: [...plan.remove, ...plan.replace].map(({ metadata }) => metadata.name).toSorted(),
      error: null,
      requeueAfterSeconds: (plan.requeueAfterMs ?? 0) / 1000,
      status: plan.status,
    };
  },
};
