/**
 * OpenKruise ContainerRecreateRequest: restarts containers of one named pod, so that normally one member has it. If
 * several members have a pod of that name, the request shows the progress of the slowest one.
 *
 * OpenKruise completes the spec on creation and rejects later changes, so the member's spec is kept.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type JsonObject, defined, omitEmpty, textOf } from "@flotilla/base";
import type { KindInterpreter } from "@flotilla/kubernetes";
import { replaceStatus, reportedStatuses, timeIn } from "@flotilla/kubernetes";
import { entriesOf, jobTimes } from "../interpreter/merged-status.ts";

interface ContainerRecreateRequest extends KubernetesObject {
  spec?: JsonObject;
  status?: JsonObject;
}

const PHASES = ["", "Pending", "Recreating", "Failed", "Succeeded", "Completed"];

export const containerRecreateRequestInterpreter: KindInterpreter<ContainerRecreateRequest> = {
  group: "apps.kruise.io",
  kind: "ContainerRecreateRequest",
  timeToLive: {
    path: ["spec", "ttlSecondsAfterFinished"],
    endedAt: (status) => timeIn(status, "completionTime"),
  },
  retain: (desired, observed) => (observed.spec ? { ...desired, spec: observed.spec } : desired),
  aggregateStatus(request, items) {
    const statuses = reportedStatuses(items);
    // A status requires a phase, and there is none before a member's controller has observed the request.
    if (statuses.length === 0) return request;
    const phase = PHASES.find((each) => statuses.some((status) => textOf(status["phase"]) === each)) ?? "";
    const message = textOf(statuses.find((status) => textOf(status["message"]) !== "")?.["message"]);
    const [only] = statuses;
    const containerRecreateStates =
      statuses.length === 1 ? statesIn(only) : entriesOf(items, "containerRecreateStates", "name");
    const { completionTime } = jobTimes(items.filter(({ status }) => isObject(status)));
    return replaceStatus(request, {
      phase,
      ...defined({ completionTime }),
      ...omitEmpty({ message, containerRecreateStates }),
    });
  },
  /** A failed request is also Completed: then some containers have not succeeded. */
  isHealthy({ status }) {
    if (!isObject(status)) return false;
    const phases = statesIn(status).map(({ phase }) => phase);
    const phase = textOf(status["phase"]);
    if (phase === "" || phase === "Failed" || phases.includes("Failed")) return false;
    return phase !== "Completed" || (phases.length > 0 && phases.every((each) => each === "Succeeded"));
  },
};

function statesIn(status: DeepReadonly<JsonObject> | undefined): JsonObject[] {
  const states = status?.["containerRecreateStates"];
  return Array.isArray(states) ? states.filter(isObject) : [];
}
