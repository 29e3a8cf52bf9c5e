/**
 * Argo Rollout: like a Deployment; its controller writes the observed generation as a string and its health in `phase`.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, isObject, type JsonObject, defined, omitZero, textOf } from "@flotilla/base";
import {
  pickFields,
  reportedStatuses,
  statusOf,
  sumOf,
  templateDependencies,
  templateReplicas,
  withSpecField,
} from "@flotilla/kubernetes";
import type { KindInterpreter, PodTemplateShape } from "@flotilla/kubernetes";

interface Rollout extends KubernetesObject {
  spec?: { replicas?: number; template?: PodTemplateShape; paused?: boolean };
  status?: JsonObject;
}

const COUNTERS = ["replicas", "readyReplicas", "updatedReplicas", "availableReplicas", "HPAReplicas"];
const REPORTED = [...COUNTERS, "phase", "message", "currentPodHash", "stableRS", "observedGeneration", "selector"];
/** The template shows the worst phase of any member. */
const PHASES = ["Degraded", "Paused", "Progressing", "Healthy"];

export const rolloutInterpreter: KindInterpreter<Rollout> = {
  group: "argoproj.io",
  kind: "Rollout",
  replicas: ({ spec }) => templateReplicas(spec?.replicas ?? 1, spec?.template),
  reviseReplicas: (rollout, replicas) => withSpecField(rollout, "replicas", replicas),
  reflectStatus(rollout) {
    const status = statusOf(rollout);
    return (
      status && {
        ...pickFields(status, REPORTED),
        ...defined({ generation: rollout.metadata.generation }),
      }
    );
  },
  aggregateStatus(rollout, items) {
    const statuses = reportedStatuses(items);
    const phases = new Set(statuses.map((status) => textOf(status["phase"])));
    if (statuses.length < items.length) phases.add("Progressing");
    const phase = PHASES.find((each) => phases.has(each));
    const worst = statuses.find((status) => status["phase"] === phase && textOf(status["message"]) !== "");
    const { message: _message, phase: _phase, ...before } = statusOf(rollout) ?? {};
    const next: JsonObject = {
      ...before,
      ...Object.fromEntries(COUNTERS.map((field) => [field, sumOf(statuses, field)])),
      ...omitZero({ phase, message: worst && textOf(worst["message"]) }),
    };
    return equalJson(next, statusOf(rollout) ?? {}) ? rollout : { ...rollout, status: next };
  },
  isHealthy({ metadata, status }) {
    if (!isObject(status) || Number(textOf(status["observedGeneration"])) !== (metadata.generation ?? 0)) return false;
    return status["phase"] === "Healthy" || status["phase"] === "Paused";
  },
  dependencies: templateDependencies,
};
