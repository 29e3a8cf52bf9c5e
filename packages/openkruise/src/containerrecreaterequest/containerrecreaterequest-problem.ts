/** Why containers were not recreated. Pure. */
import type { JsonObject } from "@flotilla/base";
import { objectsOf } from "@flotilla/base";
import type { Unhealthy } from "@flotilla/kubernetes";
import { FAILED, said, oneLine } from "../interpreter/own-problem.ts";

export function recreateProblem(_spec: JsonObject, status: JsonObject): Unhealthy | undefined {
  const states = objectsOf(status["containerRecreateStates"]);
  const failed = states.filter(({ phase }) => phase === "Failed");
  const phase = oneLine(status["phase"]);
  if (failed.length > 0)
    return {
      reason: FAILED,
      message: `containers were not recreated: ${failed.map(({ name, message }) => `${oneLine(name)}${said(message)}`).join(", ")}`,
    };
  const isDone = phase === "Completed" && states.length > 0 && states.every((each) => each["phase"] === "Succeeded");
  if (phase === "Failed" || (phase === "Completed" && !isDone))
    return { reason: FAILED, message: `its containers were not recreated${said(status["message"])}` };
  // The daemon on the node starts at once.
  return phase === "" || phase === "Pending"
    ? {
        reason: "NotStarted",
        message: "it has not started: it waits for another request for the pod, or for the daemon of OpenKruise",
      }
    : undefined;
}
