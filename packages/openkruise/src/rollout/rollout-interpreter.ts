/**
 * OpenKruise Rollout: every member releases its own workload step by step. Step, state and message belong together, so
 * the template shows those of one member: the slowest one, because it determines the progress of the release. The
 * message names the cluster.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type Json, type JsonObject, defined, textOf } from "@flotilla/base";
import {
  countOf,
  isObserved,
  observedGenerationOf,
  pickFields,
  reflectFields,
  replaceStatus,
} from "@flotilla/kubernetes";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";

interface Rollout extends KubernetesObject {
  status?: JsonObject;
}

const REPORTED = [
  "phase",
  "message",
  "currentStepIndex",
  "currentStepState",
  "canaryStatus",
  "blueGreenStatus",
  "conditions",
];
/** Before any member has reported. The API rejects a status without a step. */
const NOT_BEGUN = { phase: "Initial", currentStepIndex: 0, currentStepState: "" };
/** From the least to the most advanced. */
const PHASES = ["", "Terminating", "Disabling", "Initial", "Progressing", "Disabled", "Healthy"];
const STEP_STATES = [
  "",
  "BeforeStepUpgrade",
  "StepUpgrade",
  "StepTrafficRouting",
  "StepMetricsAnalysis",
  "StepPaused",
  "StepReady",
  "Completed",
];

export const kruiseRolloutInterpreter: KindInterpreter<Rollout> = {
  group: "rollouts.kruise.io",
  kind: "Rollout",
  reflectStatus: (rollout) => reflectFields(rollout, REPORTED),
  aggregateStatus(rollout, items) {
    const last = slowestMember(items);
    const message = textOf(last?.status["message"]);
    return replaceStatus(rollout, {
      ...(last ? pickFields(last.status, REPORTED) : NOT_BEGUN),
      ...defined({ message: last && message ? `${last.clusterName}=${message}` : undefined }),
      observedGeneration: observedGenerationOf(rollout, items),
    });
  },
  /** A step that waits for manual approval is healthy. */
  isHealthy(rollout) {
    if (!isObject(rollout.status) || !isObserved(rollout)) return false;
    const phase = rollout.status["phase"];
    return (
      phase === "Healthy" ||
      phase === "Disabled" ||
      (phase === "Progressing" && stepOf(rollout.status).state === "StepPaused")
    );
  },
};

interface Reported {
  clusterName: string;
  status: JsonObject;
}

/** The first of those with equal progress. */
function slowestMember(items: readonly StatusItem[]): Reported | undefined {
  let last: Reported | undefined;
  for (const { clusterName, status } of items) {
    if (isObject(status) && (!last || compareProgress(status, last.status) < 0)) last = { clusterName, status };
  }
  return last;
}

function compareProgress(a: JsonObject, b: JsonObject): number {
  const [left, right] = [stepOf(a), stepOf(b)];
  return (
    PHASES.indexOf(textOf(a["phase"])) - PHASES.indexOf(textOf(b["phase"])) ||
    left.index - right.index ||
    STEP_STATES.indexOf(left.state) - STEP_STATES.indexOf(right.state)
  );
}

/** Older versions report the step only in the strategy's part of the status. */
function stepOf(status: DeepReadonly<JsonObject>): { index: number; state: string } {
  const parts: (DeepReadonly<Json> | undefined)[] = [status, status["canaryStatus"], status["blueGreenStatus"]];
  const part = parts.find((each): each is JsonObject => isObject(each) && each["currentStepState"] !== undefined) ?? {};
  return { index: countOf(part["currentStepIndex"]), state: textOf(part["currentStepState"]) };
}
