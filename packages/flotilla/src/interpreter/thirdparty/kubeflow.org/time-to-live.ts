/** How long finished training jobs stay. */
import { conditionTime, timeIn } from "@flotilla/kubernetes";
import type { TimeToLive } from "@flotilla/kubernetes";

export const trainingTimeToLive: TimeToLive = {
  path: ["spec", "runPolicy", "ttlSecondsAfterFinished"],
  /** The operator writes no completion time for some failures. */
  endedAt(status) {
    const finishedAt = conditionTime(status, "Succeeded", "Failed");
    return finishedAt && (timeIn(status, "completionTime") ?? finishedAt);
  },
};
