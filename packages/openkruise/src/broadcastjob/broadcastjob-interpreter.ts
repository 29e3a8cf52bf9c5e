/**
 * OpenKruise BroadcastJob: one pod on every node of every member. Karmada counts its parallelism as replicas, so that a
 * policy that divides would choose as many members as pods may run at once; the others would never run it. Here a number
 * is divided where the policy divides; a percentage refers to each member's own nodes and is kept, and so is an absent
 * limit.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type Json, type JsonObject, omitEmpty, textOf } from "@flotilla/base";
import {
  pickFields,
  podDependencies,
  replaceStatus,
  reportedStatuses,
  statusOf,
  sumOf,
  timeIn,
} from "@flotilla/kubernetes";
import type { KindInterpreter, PodTemplateShape, StatusItem } from "@flotilla/kubernetes";
import { stayingOf } from "../divide/counted-pods.ts";
import { divideParallelism } from "../imagepulljob/imagepulljob-interpreter.ts";

interface BroadcastJob extends KubernetesObject {
  spec?: { parallelism?: number | string; template?: PodTemplateShape };
  status?: JsonObject;
}

/** OpenKruise's default: as many as there are nodes. */
const NO_LIMIT = 2 ** 31 - 1;
const isLimited = (spec: DeepReadonly<BroadcastJob>["spec"]): spec is { parallelism: number } =>
  typeof spec?.parallelism === "number" && spec.parallelism < NO_LIMIT;

const COUNTERS = ["active", "succeeded", "failed", "desired"];

export const broadcastJobInterpreter: KindInterpreter<BroadcastJob> = {
  group: "apps.kruise.io",
  kind: "BroadcastJob",
  timeToLive: {
    path: ["spec", "completionPolicy", "ttlSecondsAfterFinished"],
    endedAt: (status) => (finishOf(status) ? timeIn(status, "completionTime") : undefined),
  },
  isFinished: (status) => finishOf(status) !== "",
  divide(job, shares) {
    const isCopied = !isLimited(job.spec) || stayingOf(shares).every(({ isWhole }) => isWhole);
    return isCopied ? new Map(stayingOf(shares).map(({ cluster }) => [cluster, job])) : divideParallelism(job, shares);
  },
  retain(desired, observed) {
    const labels = observed.spec?.template?.metadata?.labels;
    if (!labels) return desired;
    const template = desired.spec?.template;
    return {
      ...desired,
      spec: { ...desired.spec, template: { ...template, metadata: { ...template?.metadata, labels } } },
    };
  },
  reflectStatus(job) {
    const status = statusOf(job);
    return status && pickFields(status, ["conditions", "startTime", "completionTime", ...COUNTERS, "phase"]);
  },
  aggregateStatus(job, items) {
    const statuses = reportedStatuses(items);
    const phase = textOf(statuses.findLast((status) => typeof status["phase"] === "string")?.["phase"]);
    const { phase: _phase, conditions: _conditions, ...others } = statusOf(job) ?? {};
    const conditions = conditionsOf(items);
    return replaceStatus(job, {
      ...others,
      ...Object.fromEntries(COUNTERS.map((field) => [field, sumOf(statuses, field)])),
      ...omitEmpty({ phase, conditions }),
    });
  },
  isHealthy({ status = {} }) {
    if (status["desired"] === 0 || status["failed"] !== 0) return false;
    return status["succeeded"] !== 0 || status["active"] !== 0;
  },
  dependencies: ({ metadata, spec }) => podDependencies(spec?.template, metadata.namespace),
};

function conditionsOf(items: readonly StatusItem[]): JsonObject[] {
  const conditions: JsonObject[] = [];
  const failed = items.filter(({ status }) => finishOf(status) === "Failed").map(({ clusterName }) => clusterName);
  if (failed.length > 0)
    conditions.push({
      type: "Failed",
      status: "True",
      reason: "JobFailed",
      message: `Job executed failed in member clusters: ${failed.join(", ")}`,
    });
  if (items.length > 0 && items.every(({ status }) => finishOf(status) === "Complete"))
    conditions.push({ type: "Complete", status: "True", reason: "Completed", message: "Job completed" });
  return conditions;
}

/** The finish condition of a member's job: the first condition that reports an end. */
function finishOf(status: DeepReadonly<Json> | undefined): string {
  const conditions = isObject(status) ? status["conditions"] : undefined;
  const finish = Array.isArray(conditions)
    ? conditions
        .filter(isObject)
        .find(({ type, status: value }) => (type === "Complete" || type === "Failed") && value === "True")
    : undefined;
  return textOf(finish?.["type"]);
}
