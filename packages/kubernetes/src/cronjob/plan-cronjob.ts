/**
 * The decisions of a CronJob: which Jobs have ended, which are to be deleted, and whether one is due.
 *
 * Reads: the CronJob, its Jobs. Writes nothing; `cronjob-controller.ts` executes the plan.
 */
import { controllerReference } from "@flotilla/apimachinery";
import { zoneProblem } from "./cron-schedule.ts";
import type { Job } from "../job/job-kind.ts";
import { compareText, formatTime, omitZero } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { RecordedEvent } from "@flotilla/controller-runtime";
import { formatInZone, parseSchedule, zonedSchedule } from "./cron.ts";
import { conditionOf, isFinished } from "../job/plan-job.ts";
import type { ReadonlyJob } from "../job/job-pods.ts";
import { timeMs } from "../pod/pod-state.ts";
import { dueRun, nextRunInMs } from "./missed-runs.ts";
import type { ReadonlyCronJob } from "./missed-runs.ts";

const SCHEDULED_ANNOTATION = "batch.kubernetes.io/cronjob-scheduled-timestamp";

export type CronJobStatus = NonNullable<ReadonlyCronJob["status"]>;
type Reference = NonNullable<CronJobStatus["active"]>[number];

export interface CronJobPlan {
  status: CronJobStatus;
  events: readonly RecordedEvent[];
  /** The due run. */
  start?: DeepReadonly<Job>;
  startMs?: number;
  /** Running Jobs that it replaces. */
  replace: readonly Reference[];
  againInMs?: number;
}

/** Finished Jobs beyond the history limits, oldest first. */
export function planJobHistory({ spec }: ReadonlyCronJob, jobs: readonly ReadonlyJob[]): ReadonlyJob[] {
  const oldest = (type: "Complete" | "Failed", limit: number | undefined): ReadonlyJob[] => {
    const finished = jobs.filter((job) => conditionOf(job, type)).toSorted(byStart);
    return limit === undefined ? [] : finished.slice(0, Math.max(0, finished.length - limit));
  };
  return [...oldest("Complete", spec.successfulJobsHistoryLimit), ...oldest("Failed", spec.failedJobsHistoryLimit)];
}

function byStart(a: ReadonlyJob, b: ReadonlyJob): number {
  const [left, right] = [a.status?.startTime, b.status?.startTime];
  if (left === right) return compareText(a.metadata.name, b.metadata.name);
  if (left === undefined || right === undefined) return left === undefined ? 1 : -1;
  return timeMs(left) - timeMs(right);
}

/** `jobs` are those that stay. */
export function planCronJob(cronJob: ReadonlyCronJob, jobs: readonly ReadonlyJob[], nowMs: number): CronJobPlan {
  const events: RecordedEvent[] = [];
  const warn = (reason: string, message: string): void => void events.push({ type: "Warning", reason, message });
  const status = followJobs(cronJob, jobs, events);
  const nothing: CronJobPlan = { status, events, replace: [] };
  const { spec, metadata } = cronJob;
  if (metadata.deletionTimestamp) return nothing;
  const wrongZone = spec.timeZone === undefined ? undefined : zoneProblem(spec.timeZone);
  if (wrongZone !== undefined) {
    warn("UnknownTimeZone", `invalid timeZone: ${JSON.stringify(spec.timeZone)}: ${wrongZone}`);
    return nothing;
  }
  if (spec.suspend) return nothing;
  if (spec.schedule.includes("TZ"))
    warn(
      "UnsupportedSchedule",
      `CRON_TZ or TZ used in schedule ${JSON.stringify(spec.schedule)} is not officially supported, see ` +
        "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
    );
  const schedule = parseSchedule(zonedSchedule(spec.schedule, spec.timeZone));
  if (typeof schedule === "string") {
    warn("UnparseableSchedule", `unparseable schedule: ${JSON.stringify(spec.schedule)} : ${schedule}`);
    return nothing;
  }
  const due = dueRun(cronJob, schedule, nowMs);
  if (typeof due === "string") {
    warn("InvalidSchedule", `invalid schedule: ${spec.schedule} : ${due}`);
    return nothing;
  }
  if (due.timeMs !== undefined && due.missedMany)
    warn(
      "TooManyMissedTimes",
      "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew",
    );
  const again = (from: ReadonlyCronJob): Pick<CronJobPlan, "againInMs"> => {
    const inMs = nextRunInMs(from, schedule, nowMs);
    return inMs === undefined ? {} : { againInMs: inMs };
  };
  const refusal = due.timeMs === undefined ? "nothing" : skipReason(cronJob, status, due.timeMs, nowMs, events);
  if (due.timeMs === undefined || refusal !== undefined) return { ...nothing, ...again(cronJob) };
  const lastScheduleTime = formatTime(due.timeMs);
  const start = makeJob(cronJob, due.timeMs);
  return {
    ...nothing,
    start,
    startMs: due.timeMs,
    replace: spec.concurrencyPolicy === "Replace" ? (status.active ?? []) : [],
    ...again({ ...cronJob, status: { ...status, lastScheduleTime } }),
  };
}

/** Why a due run is not started. */
function skipReason(
  { metadata, spec }: ReadonlyCronJob,
  status: CronJobStatus,
  dueMs: number,
  nowMs: number,
  events: RecordedEvent[],
): string | undefined {
  if (spec.startingDeadlineSeconds !== undefined && dueMs + spec.startingDeadlineSeconds * 1000 < nowMs) {
    events.push({
      type: "Warning",
      reason: "MissSchedule",
      message: `Missed scheduled time to start a job: ${new Date(dueMs).toUTCString().replace("GMT", "+0000")}`,
    });
    return "too late";
  }
  const name = jobName(metadata.name, dueMs);
  if (status.active?.some((reference) => reference.name === name) || status.lastScheduleTime === formatTime(dueMs))
    return "started before";
  if (spec.concurrencyPolicy === "Forbid" && (status.active ?? []).length > 0) {
    events.push({
      type: "Normal",
      reason: "JobAlreadyActive",
      message: "Not starting job because prior execution is running and concurrency policy is Forbid",
    });
    return "another one runs";
  }
  return undefined;
}

/** The status after recording which Jobs have ended or were deleted. */
function followJobs(
  { status = {} }: ReadonlyCronJob,
  jobs: readonly ReadonlyJob[],
  events: RecordedEvent[],
): CronJobStatus {
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]));
  let { lastSuccessfulTime } = status;
  for (const job of jobs) {
    const isListed = status.active?.some(({ uid }) => uid === job.metadata.uid);
    if (!isListed && !isFinished(job))
      events.push({
        type: "Warning",
        reason: "UnexpectedJob",
        message: `Saw a job that the controller did not create or forgot: ${job.metadata.name}`,
      });
    const { completionTime } = job.status ?? {};
    if (
      conditionOf(job, "Complete") &&
      completionTime &&
      (!lastSuccessfulTime || timeMs(completionTime) > timeMs(lastSuccessfulTime))
    )
      lastSuccessfulTime = completionTime;
  }
  const active = (status.active ?? []).filter(({ uid, name }) => {
    const job = byUid.get(uid);
    if (!job) events.push({ type: "Normal", reason: "MissingJob", message: `Active job went missing: ${name}` });
    else if (isFinished(job))
      events.push({
        type: "Normal",
        reason: "SawCompletedJob",
        message: `Saw completed job: ${name}, condition: ${conditionOf(job, "Complete") ? "Complete" : "Failed"}`,
      });
    return job !== undefined && !isFinished(job);
  });
  return withActive({ ...status, ...omitZero({ lastSuccessfulTime }) }, active);
}

function withActive({ active: _before, ...status }: CronJobStatus, active: readonly Reference[]): CronJobStatus {
  return active.length > 0 ? { ...status, active } : status;
}

/** The status after starting the run of this time. */
export function startedStatus(
  status: CronJobStatus,
  { metadata }: ReadonlyJob,
  startMs: number,
  replaced: readonly Reference[],
): CronJobStatus {
  const { name, namespace, uid = "", resourceVersion = "" } = metadata;
  const reference: Reference = {
    kind: "Job",
    namespace: namespace || undefined,
    name,
    uid,
    apiVersion: "batch/v1",
    resourceVersion,
  };
  const active = (status.active ?? []).filter((each) => each.uid !== uid && !replaced.includes(each));
  return { ...withActive(status, [...active, reference]), lastScheduleTime: formatTime(startMs) };
}

/** The same run always has the same name, so that it cannot be started twice. */
const jobName = (cronJob: string, ms: number): string => `${cronJob}-${Math.floor(ms / 60_000)}`;

function makeJob(cronJob: ReadonlyCronJob, ms: number): DeepReadonly<Job> {
  const { metadata, spec } = cronJob;
  const { metadata: template, spec: jobSpec } = spec.jobTemplate;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: jobName(metadata.name, ms),
      namespace: metadata.namespace || undefined,
      labels: template?.labels ? template.labels : undefined,
      annotations: { ...template?.annotations, [SCHEDULED_ANNOTATION]: formatInZone(ms, spec.timeZone) },
      ownerReferences: [controllerReference(cronJob)],
    },
    // The API server rejects a CronJob without one.
    spec: jobSpec ?? { template: { spec: { containers: [] } } },
  };
}
