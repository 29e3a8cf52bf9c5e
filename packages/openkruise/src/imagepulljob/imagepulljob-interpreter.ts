/**
 * OpenKruise ImagePullJob: every member pulls an image to its own nodes; the template counts the nodes of the fleet.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type JsonObject, omitEmpty, textOf } from "@flotilla/base";
import { countOf, podDependencies, replaceStatus, reportedStatuses, timeIn, withSpecField } from "@flotilla/kubernetes";
import type { Dependency, KindInterpreter, Share, StatusItem } from "@flotilla/kubernetes";
import { countsPerCluster, stayingOf } from "../divide/counted-pods.ts";
import { addNames, jobTimes, sums } from "../interpreter/merged-status.ts";

/** Common fields of jobs that pull images. */
export interface PullJob extends KubernetesObject {
  spec?: { pullSecrets?: string[]; parallelism?: number | string };
  status?: JsonObject;
}

const COUNTERS = ["desired", "active", "succeeded", "failed"];
const COMPLETED = "job has completed";

export const imagePullJobInterpreter: KindInterpreter<PullJob> = {
  group: "apps.kruise.io",
  kind: "ImagePullJob",
  divide: divideParallelism,
  timeToLive: {
    path: ["spec", "completionPolicy", "ttlSecondsAfterFinished"],
    endedAt: (status) => timeIn(status, "completionTime"),
  },
  isFinished: ({ completionTime }) => typeof completionTime === "string",
  aggregateStatus(job, items) {
    const counts = sums(items, COUNTERS);
    const times = jobTimes(items);
    const failedNodes: string[] = [];
    for (const { clusterName, status } of items)
      if (isObject(status)) addNames(failedNodes, clusterName, status["failedNodes"]);
    return replaceStatus(job, {
      ...times,
      ...counts,
      message: messageOf(items, counts, times),
      ...omitEmpty({ failedNodes }),
    });
  },
  isHealthy: ({ status }) => isObject(status) && countOf(status["failed"]) === 0,
  dependencies: pullSecrets,
};

/**
 * The nodes that pull at the same time count the fleet. The nodes of a member are not known before it reports, and pulls
 * that run would be rearranged, so each member gets the same part, at least one.
 */
export function divideParallelism(
  job: DeepReadonly<PullJob>,
  given: readonly Share[],
): ReadonlyMap<string, DeepReadonly<PullJob>> {
  const shares = stayingOf(given).filter(({ leaving }) => !leaving);
  const parallelism = job.spec?.parallelism;
  const isCopied = countsPerCluster(job) || typeof parallelism !== "number";
  return new Map(
    shares.map(({ cluster }, index) => {
      if (isCopied) return [cluster, job];
      const part = Math.floor((parallelism + shares.length - 1 - index) / shares.length);
      return [cluster, withSpecField(job, "parallelism", Math.max(1, part))];
    }),
  );
}

/** The Secrets needed to pull images from a private registry. */
export function pullSecrets({ metadata, spec }: DeepReadonly<PullJob>): Dependency[] {
  const names: readonly string[] = Array.isArray(spec?.pullSecrets) ? spec.pullSecrets : [];
  return podDependencies(
    { spec: { imagePullSecrets: names.filter((name) => typeof name === "string").map((name) => ({ name })) } },
    metadata.namespace,
  );
}

/** The message that OpenKruise writes for one cluster; a member whose job ended otherwise adds its own message. */
function messageOf(items: readonly StatusItem[], counts: JsonObject, { completionTime }: JsonObject): string {
  if (completionTime !== undefined) {
    return (
      reportedStatuses(items)
        .map((status) => textOf(status["message"]))
        .find((message) => message !== "" && message !== COMPLETED) ?? COMPLETED
    );
  }
  const desired = countOf(counts["desired"]);
  if (desired === 0) return "job is running, no progress";
  return `job is running, progress ${((100 * (countOf(counts["succeeded"]) + countOf(counts["failed"]))) / desired).toFixed(1)}%`;
}
