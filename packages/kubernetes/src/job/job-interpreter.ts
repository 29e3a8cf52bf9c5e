/**
 * Job. Its parallelism counts as replicas; its completions are divided by dispatch. A finished template is never
 * changed again.
 */
import { JOB_UID_LABEL, JOB_NAME_LABEL } from "../well-known-names.ts";
import { isObject, type DeepReadonly, type JsonObject, defined, omitZero, textOf } from "@flotilla/base";
import { conditionsIn } from "../interpreter/joined-conditions.ts";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import type { StatusItem } from "../interpreter/status-item.ts";
import { int32SumOf, reportedStatuses, statusOf, withStatus } from "../interpreter/replica-status.ts";
import { withoutNames } from "../interpreter/without-fields.ts";
import { conditionTime } from "../interpreter/time-to-live.ts";
import { earliestOf, latestOf } from "../interpreter/times.ts";
import { reviseExisting, templateDependencies, templateReplicas, type Workload } from "../interpreter/workload.ts";
import { jobConditionSums } from "./job-conditions-sum.ts";
import { finishOf, isJobFinished } from "./job-outcome.ts";

interface Job extends Workload {
  spec?: Workload["spec"] & {
    parallelism?: number;
    completions?: number;
    manualSelector?: boolean;
    selector?: { matchLabels?: Record<string, string> };
  };
}

const SELECTOR_LABELS = ["controller-uid", JOB_UID_LABEL];
const POD_LABELS = [...SELECTOR_LABELS, "job-name", JOB_NAME_LABEL];
const COUNTERS = ["active", "succeeded", "failed"];

export const jobInterpreter: KindInterpreter<Job> = {
  group: "batch",
  kind: "Job",
  replicas({ spec }) {
    const parallelism = spec?.parallelism ?? 0;
    return templateReplicas(Math.min(parallelism, spec?.completions ?? parallelism), spec?.template);
  },
  reviseReplicas: (job, replicas) => reviseExisting(job, "parallelism", replicas),
  /** The member generated the selector and the matching labels, and both are immutable. */
  retain(desired, observed) {
    const matchLabels = observed.spec?.selector?.matchLabels;
    const labels = observed.spec?.template?.metadata?.labels;
    if (!matchLabels && !labels) return desired;
    const { spec = {} } = desired;
    return {
      ...desired,
      spec: {
        ...spec,
        ...defined({
          selector: matchLabels ? { ...spec.selector, matchLabels } : undefined,
          template: labels ? { ...spec.template, metadata: { ...spec.template?.metadata, labels } } : undefined,
        }),
      },
    };
  },
  reflectStatus(job) {
    const status = statusOf(job);
    if (!status) return undefined;
    return Object.fromEntries(
      [...COUNTERS, "conditions", "startTime", "completionTime"].flatMap((field) =>
        status[field] ? [[field, status[field]]] : [],
      ),
    );
  },
  aggregateStatus(job, items) {
    return isJobFinished(statusOf(job)) ? job : withStatus(job, aggregate(job, items));
  },
  conditions: jobConditionSums,
  dependencies: templateDependencies,
  prune,
  timeToLive: {
    path: ["spec", "ttlSecondsAfterFinished"],
    endedAt: (status) => conditionTime(status, "Complete", "Failed"),
  },
  isFinished: isJobFinished,
};

/** Each member generates the selector and labels unless the user set them. */
function prune(job: DeepReadonly<Job>): DeepReadonly<Job> {
  const { spec } = job;
  if (typeof spec !== "object" || spec === null || spec.manualSelector === true) return job;
  const { selector, template } = spec;
  return {
    ...job,
    spec: {
      ...spec,
      ...defined({
        selector: isObject(selector?.matchLabels)
          ? { ...selector, matchLabels: withoutNames(selector.matchLabels, SELECTOR_LABELS) }
          : undefined,
        template: isObject(template?.metadata?.labels)
          ? {
              ...template,
              metadata: { ...template.metadata, labels: withoutNames(template.metadata.labels, POD_LABELS) },
            }
          : undefined,
      }),
    },
  };
}

function aggregate(job: DeepReadonly<Job>, items: readonly StatusItem[]): JsonObject {
  const statuses = reportedStatuses(items);
  const everyHas = (field: string): boolean =>
    items.length > 0 && statuses.filter((status) => status[field]).length === items.length;
  const status: JsonObject = {};
  for (const counter of COUNTERS) {
    const sum = int32SumOf(statuses, counter);
    if (sum !== 0) status[counter] = sum;
  }
  const conditions = conditionsOf(items, statuses);
  if (conditions.length > 0) status["conditions"] = conditions;
  const startTime =
    textOf(statusOf(job)?.["startTime"]) ||
    (everyHas("startTime") ? earliestOf(statuses.map((each) => textOf(each["startTime"]))) : "");
  if (startTime) status["startTime"] = startTime;
  if (everyHas("completionTime"))
    status["completionTime"] = latestOf(statuses.map((each) => textOf(each["completionTime"])));
  return status;
}

/** The times are those of the members' conditions, so that aggregating again changes nothing. */
function conditionsOf(items: readonly StatusItem[], statuses: readonly JsonObject[]): JsonObject[] {
  const conditions: JsonObject[] = [];
  const add = (type: string, reason: string, message: string): void => {
    const times = statuses.flatMap((status) =>
      conditionsIn(status).flatMap((each) => (each["type"] === type ? [textOf(each["lastTransitionTime"])] : [])),
    );
    const time = latestOf(times);
    conditions.push({
      type,
      status: "True",
      ...omitZero({ lastProbeTime: time, lastTransitionTime: time }),
      reason,
      message,
    });
  };
  const failed = items
    .filter(({ status }) => isObject(status) && finishOf(status) === "Failed")
    .map(({ clusterName }) => clusterName);
  if (failed.length > 0) add("Failed", "JobFailed", `Job executed failed in member clusters ${failed.join(",")}`);
  if (items.length > 0 && statuses.filter((status) => finishOf(status) === "Complete").length === items.length) {
    add("Complete", "Completed", "Job completed");
    if (statuses.filter((status) => hasCondition(status, "SuccessCriteriaMet")).length === items.length) {
      add("SuccessCriteriaMet", "CompletionsReached", "All member clusters have met success criteria");
    }
  }
  return conditions;
}

const hasCondition = (status: JsonObject, type: string): boolean =>
  conditionsIn(status).some((condition) => condition["type"] === type && condition["status"] === "True");
