/** The start of a Job, whether it is suspended, and whether it has ended. Pure. */
import { formatTime } from "@flotilla/base";
import { completion, makeCondition } from "./plan-job.ts";
import type { JobCondition, JobPlan } from "./plan-job.ts";
import { isSuspended } from "./job-pods.ts";
import type { JobStatus } from "./job-tracking.ts";
import type { JobView } from "./job-view.ts";

/** These parts of the status, and the end if it has come. `active` is the number of pods after this reconcile. */
export function planStart(
  view: JobView,
  plan: JobPlan,
  active: number,
  nowMs: number,
): { status: JobStatus; end?: JobCondition } {
  const { job } = view;
  const { startTime, ...status }: JobStatus = job.status ?? {};
  const suspended = isSuspended(job);
  const since = startTime ?? (suspended ? undefined : formatTime(nowMs));
  const running: JobStatus = { ...status, startTime: since };
  const end = plan.end ?? completion(view, active, nowMs);
  if (end) return { status: running, end };
  const known = status.conditions?.find(({ type }) => type === "Suspended");
  if (job.metadata.deletionTimestamp || (known?.status ?? "False") === (suspended ? "True" : "False"))
    return { status: running };
  const condition = suspended
    ? makeCondition("Suspended", "JobSuspended", "Job suspended", nowMs)
    : makeCondition("Suspended", "JobResumed", "Job resumed", nowMs, "False");
  const conditions = known
    ? (status.conditions ?? []).map((each) => (each === known ? condition : each))
    : [...(status.conditions ?? []), condition];
  // activeDeadlineSeconds counts from when the Job was resumed.
  return { status: { ...status, conditions, startTime: !suspended ? formatTime(nowMs) : undefined } };
}
