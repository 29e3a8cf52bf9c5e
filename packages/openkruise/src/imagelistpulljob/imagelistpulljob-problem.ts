/** Why an ImageListPullJob has failed. Pure. */
import type { JsonObject } from "@flotilla/base";
import { objectsOf } from "@flotilla/base";
import type { Unhealthy } from "@flotilla/kubernetes";
import { FAILED, listed, oneLine } from "../interpreter/own-problem.ts";

export function imageListPullProblem(_spec: JsonObject, status: JsonObject): Unhealthy | undefined {
  const images = objectsOf(status["failedImageStatuses"]).map(
    ({ name, imagePullJob }) => oneLine(name) || oneLine(imagePullJob),
  );
  if (images.length === 0) return undefined;
  return {
    reason: FAILED,
    message: `${images.length} image${images.length === 1 ? " was" : "s were"} not pulled on all nodes${listed(images)}`,
  };
}
