/**
 * OpenKruise ImageListPullJob: every member creates an ImagePullJob for each image; the template counts those of all
 * members.
 */
import { isObject, omitEmpty } from "@flotilla/base";
import type { KindInterpreter } from "@flotilla/kubernetes";
import { replaceStatus, timeIn } from "@flotilla/kubernetes";
import { entriesOf, jobTimes, sums } from "../interpreter/merged-status.ts";
import { divideParallelism, pullSecrets, type PullJob } from "../imagepulljob/imagepulljob-interpreter.ts";

const COUNTERS = ["desired", "active", "completed", "succeeded"];

export const imageListPullJobInterpreter: KindInterpreter<PullJob> = {
  group: "apps.kruise.io",
  kind: "ImageListPullJob",
  divide: divideParallelism,
  timeToLive: {
    path: ["spec", "completionPolicy", "ttlSecondsAfterFinished"],
    endedAt: (status) => timeIn(status, "completionTime"),
  },
  isFinished: ({ completionTime }) => typeof completionTime === "string",
  aggregateStatus(job, items) {
    const failedImageStatuses = entriesOf(items, "failedImageStatuses", "imagePullJob");
    return replaceStatus(job, {
      ...jobTimes(items),
      ...sums(items, COUNTERS),
      ...omitEmpty({ failedImageStatuses }),
    });
  },
  isHealthy({ status }) {
    if (!isObject(status)) return false;
    const failed = status["failedImageStatuses"];
    return !Array.isArray(failed) || failed.length === 0;
  },
  dependencies: pullSecrets,
};
