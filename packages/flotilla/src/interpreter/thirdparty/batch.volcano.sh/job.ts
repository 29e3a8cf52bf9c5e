/**
 * Volcano Job: tasks that start together. Each task is a component, counted by its minAvailable.
 *
 * As in Karmada, except that a task without a template requests nothing, a condition may lack its time or status, a
 * duration may have units below the second, and the time of an aggregated state is the members' newest, not the time of
 * aggregation.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, setOwn, type Json, type JsonObject, textOf } from "@flotilla/base";
import { countOf, pickFields, reportedStatuses, statusOf, sumOf, timeIn } from "@flotilla/kubernetes";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";
import { componentOf, replicasOr } from "../components.ts";
import { conditionsIn, laterOf, putStatus, nonEmpty, wholeStatus } from "../member-status.ts";
import { secondsOf } from "./duration.ts";
import { TaskCounts } from "./task-counts.ts";

interface VolcanoJob extends KubernetesObject {
  spec?: JsonObject;
  status?: JsonObject;
}

const SUMMED = ["minAvailable", "pending", "running", "succeeded", "failed", "terminating", "unknown", "retryCount"];
const REPORTED = [
  ...SUMMED,
  "version",
  "runningDuration",
  "taskStatusCount",
  "controlledResources",
  "state",
  "conditions",
];
const HEALTHY = new Set([
  "Pending",
  "Running",
  "Restarting",
  "Completing",
  "Completed",
  "Aborting",
  "Aborted",
  "Terminating",
  "Terminated",
]);
/** The phases after which Volcano deletes a Job that has a time to live. */
const ENDED = new Set(["Completed", "Failed", "Terminated"]);
/** A condition of a Volcano Job is a past phase; after one of these, the job will not complete. */
const FAILING = new Set(["Failed", "Aborting", "Aborted", "Terminating", "Terminated"]);

export const volcanoJobInterpreter: KindInterpreter<VolcanoJob> = {
  group: "batch.volcano.sh",
  kind: "Job",
  timeToLive: {
    path: ["spec", "ttlSecondsAfterFinished"],
    endedAt: ({ state }) =>
      isObject(state) && ENDED.has(textOf(state["phase"])) ? timeIn(state, "lastTransitionTime") : undefined,
  },
  components(job) {
    const tasks = job.spec?.["tasks"];
    if (!Array.isArray(tasks)) return [];
    return tasks
      .filter(isObject)
      .map(({ name, minAvailable, template }, index) =>
        componentOf(job, { name: textOf(name) || `task-${index}`, template }, replicasOr(1, minAvailable)),
      );
  },
  reflectStatus(job) {
    const status = statusOf(job);
    return status && wholeStatus({ status: pickFields(status, REPORTED) });
  },
  aggregateStatus(job, items) {
    const only = items.length === 1 ? items[0] : undefined;
    return putStatus(job, only ? wholeStatus(only) : sumStatuses(items));
  },
  isHealthy(job) {
    const state = statusOf(job)?.["state"];
    return isObject(state) && HEALTHY.has(textOf(state["phase"]));
  },
};

function sumStatuses(items: readonly StatusItem[]): JsonObject {
  const statuses = reportedStatuses(items);
  const summed: JsonObject = {};
  for (const field of SUMMED) summed[field] = sumOf(statuses, field);
  const controlledResources: JsonObject = {};
  const tasks = new TaskCounts();
  let version = 0;
  let runningDuration: Json = null;
  let longest = 0;
  for (const status of statuses) {
    const { runningDuration: duration = null, controlledResources: controlled } = status;
    version = Math.max(version, countOf(status["version"]));
    const seconds = secondsOf(duration);
    if (seconds > longest) [longest, runningDuration] = [seconds, duration];
    tasks.add(status["taskStatusCount"]);
    if (isObject(controlled)) for (const name in controlled) setOwn(controlledResources, name, controlled[name]);
  }
  return nonEmpty({
    ...summed,
    version,
    runningDuration,
    taskStatusCount: tasks.sum(),
    controlledResources,
    state: stateOf(items),
    conditions: conditionsOf(statuses),
  });
}

/** Failed when any member has failed, completed when all have; before that no phase is true of all members. */
function stateOf(items: readonly StatusItem[]): JsonObject {
  const failed: string[] = [];
  let completed = 0;
  let failedAt = "";
  let completedAt = "";
  for (const { clusterName, status } of items) {
    const state = isObject(status) ? status["state"] : undefined;
    if (!isObject(state)) continue;
    const { phase, lastTransitionTime } = state;
    if (phase === "Completed") {
      completed++;
      completedAt = laterOf(completedAt, lastTransitionTime);
    } else if (phase === "Failed" || phase === "Aborted") {
      failed.push(clusterName);
      failedAt = laterOf(failedAt, lastTransitionTime);
    }
  }
  if (failed.length > 0)
    return {
      phase: "Failed",
      reason: "VolcanoJobFailed",
      message: `Job failed in clusters: ${failed.join(",")}`,
      lastTransitionTime: failedAt,
    };
  if (completed === 0 || completed < items.length) return {};
  return {
    phase: "Completed",
    reason: "Completed",
    message: "Job completed successfully",
    lastTransitionTime: completedAt,
  };
}

/** The conditions of the first failing member; if none fails, the newest time of each phase. */
function conditionsOf(statuses: readonly JsonObject[]): JsonObject[] {
  const newest = new Map<string, JsonObject>();
  for (const status of statuses) {
    const conditions = conditionsIn(status);
    for (const condition of conditions) {
      const phase = textOf(condition["status"]);
      if (FAILING.has(phase)) return conditions;
      const known = newest.get(phase);
      if (!known || textOf(condition["lastTransitionTime"]) > textOf(known["lastTransitionTime"]))
        newest.set(phase, condition);
    }
  }
  return [...newest.values()];
}
