/**
 * The decisions of an AdvancedCronJob: which runs are active, which are to be deleted, and whether one is due.
 *
 * Reads: the AdvancedCronJob, the Jobs or BroadcastJobs of its runs. Writes nothing; the controller executes the plan.
 */
import { controllerReference, formatApiVersion } from "@flotilla/apimachinery";
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { RecordedEvent } from "@flotilla/controller-runtime";
import { timeMs } from "@flotilla/kubernetes";
import type { AdvancedCronJob } from "./advancedcronjob-kind.ts";
import { planRunTimes } from "./due-run.ts";
import { runKindOf, runTypeOf } from "./run-kinds.ts";
import type { ReadonlyRun, RunKind } from "./run-kinds.ts";

const SCHEDULED_ANNOTATION = "apps.kruise.io/scheduled-at";

export type ReadonlyAdvancedCronJob = DeepReadonly<AdvancedCronJob>;
type Status = NonNullable<ReadonlyAdvancedCronJob["status"]>;
type Reference = NonNullable<Status["active"]>[number];

export interface AdvancedCronJobPlan {
  status: Status;
  /** Finished runs beyond the history limits, oldest first. */
  remove: readonly ReadonlyRun[];
  /** Active runs that the new one replaces. */
  replace: readonly ReadonlyRun[];
  /** The due run. */
  start?: ReadonlyRun;
  /** Why no run can be started until the object changes. */
  problem?: RecordedEvent;
  requeueAfterMs?: number;
}

/** `runs` are oldest first. */
export function planAdvancedCronJob(
  cronJob: ReadonlyAdvancedCronJob,
  runs: readonly ReadonlyRun[],
  nowMs: number,
): AdvancedCronJobPlan {
  const { metadata, spec } = cronJob;
  const active = runs.filter((run) => endOf(run) === undefined);
  const status = planStatus(cronJob, runs, active);
  const plan: AdvancedCronJobPlan = { status, remove: planRunHistory(spec, runs), replace: [] };
  const runKind = runKindOf(spec);
  if (metadata.deletionTimestamp || spec.paused) return plan;

  const times = planRunTimes(spec, timeMs(status.lastScheduleTime ?? metadata.creationTimestamp), nowMs);
  if ("reason" in times) return { ...plan, problem: { type: "Warning", ...times } };
  const { dueMs, nextMs } = times;
  const waiting = { ...plan, requeueAfterMs: nextMs === undefined ? undefined : nextMs - nowMs };
  if (dueMs === undefined || (spec.concurrencyPolicy === "Forbid" && active.length > 0)) return waiting;
  return {
    ...waiting,
    replace: spec.concurrencyPolicy === "Replace" ? active : [],
    start: makeRun(cronJob, runKind, dueMs),
  };
}

/** How a run ended; undefined while it is active. An ImageListPullJob has no conditions, and ends only one way. */
function endOf({ status }: ReadonlyRun): "Complete" | "Failed" | undefined {
  for (const { type, status: value } of status?.conditions ?? [])
    if (value === "True" && (type === "Complete" || type === "Failed")) return type;
  return status?.completionTime !== undefined && status.conditions === undefined ? "Complete" : undefined;
}

function planStatus(
  { spec, status: before }: ReadonlyAdvancedCronJob,
  runs: readonly ReadonlyRun[],
  active: readonly ReadonlyRun[],
): Status {
  const lastScheduleTime = lastScheduleOf(before?.lastScheduleTime, runs);
  return {
    type: runTypeOf(spec),
    active: active.length > 0 ? active.map((run) => referenceTo(run, before?.active ?? [])) : undefined,
    lastScheduleTime,
  };
}

/**
 * The runs are the record of what was started, even if the status was never written. The status is the record of runs
 * that were deleted since: they are not started again.
 */
function lastScheduleOf(before: string | undefined, runs: readonly ReadonlyRun[]): string | undefined {
  const times = [before, ...runs.map(({ metadata }) => metadata.annotations?.[SCHEDULED_ANNOTATION])]
    .map((time) => Date.parse(time ?? ""))
    .filter((time) => !Number.isNaN(time));
  return times.length > 0 ? formatTime(Math.max(...times)) : undefined;
}

/** A reference keeps the resourceVersion of its first write, so that progress of a run does not change the status. */
function referenceTo({ apiVersion, kind, metadata }: ReadonlyRun, known: readonly Reference[]): Reference {
  const { name, namespace, uid, resourceVersion } = metadata;
  return (
    known.find((reference) => reference.uid === uid) ?? { apiVersion, kind, name, namespace, uid, resourceVersion }
  );
}

function planRunHistory(
  { successfulJobsHistoryLimit, failedJobsHistoryLimit }: ReadonlyAdvancedCronJob["spec"],
  runs: readonly ReadonlyRun[],
): ReadonlyRun[] {
  const beyond = (end: "Complete" | "Failed", limit: number | undefined): ReadonlyRun[] => {
    if (limit === undefined) return [];
    const ended = runs.filter((run) => endOf(run) === end && !run.metadata.deletionTimestamp).toSorted(byStart);
    return ended.slice(0, Math.max(0, ended.length - limit));
  };
  return [...beyond("Failed", failedJobsHistoryLimit), ...beyond("Complete", successfulJobsHistoryLimit)];
}

/** A run that never started is the first to be deleted. */
const byStart = (a: ReadonlyRun, b: ReadonlyRun): number => startMs(a) - startMs(b);
const startMs = ({ status }: ReadonlyRun): number => (status?.startTime === undefined ? 0 : timeMs(status.startTime));

function makeRun(cronJob: ReadonlyAdvancedCronJob, { kind, templateOf }: RunKind, ms: number): ReadonlyRun {
  const template = templateOf(cronJob.spec);
  const { name, namespace } = cronJob.metadata;
  return {
    apiVersion: formatApiVersion(kind.group, kind.storageVersion),
    kind: kind.kind,
    metadata: {
      // The same run always has the same name, so that it cannot be started twice.
      name: `${name}-${Math.floor(ms / 1000)}`,
      namespace,
      labels: template?.metadata?.labels,
      annotations: { ...template?.metadata?.annotations, [SCHEDULED_ANNOTATION]: formatTime(ms) },
      ownerReferences: [controllerReference(cronJob)],
    },
    spec: template?.spec,
  };
}
