/** Why an ImagePullJob has failed. Pure. */
import type { JsonObject } from "@flotilla/base";
import { textsOf } from "@flotilla/base";
import { countOf } from "@flotilla/kubernetes";
import type { Unhealthy } from "@flotilla/kubernetes";
import { FAILED, listed, said, oneLine } from "../interpreter/own-problem.ts";

export function imagePullProblem(spec: JsonObject, status: JsonObject): Unhealthy | undefined {
  const failed = countOf(status["failed"]);
  if (failed === 0) return undefined;
  const nodes = textsOf(status["failedNodes"]);
  const total = Math.max(countOf(status["desired"]), failed);
  return {
    reason: FAILED,
    message:
      `the image ${oneLine(spec["image"])} was not pulled on ${failed} of ${total} ` +
      `node${total === 1 ? "" : "s"}${listed(nodes)}${said(status["message"], "job has completed")}`,
  };
}
