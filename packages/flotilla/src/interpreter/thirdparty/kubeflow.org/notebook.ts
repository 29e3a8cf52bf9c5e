/**
 * Kubeflow Notebook: one pod on each target, and its status reports the state of the container.
 *
 * As in Karmada, except that a Notebook without a template is a pod without requests, and that the times of the
 * aggregated conditions are the members', not the time of aggregation.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type JsonObject, defined, omitZero, omitEmpty } from "@flotilla/base";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";
import { countOf, statusOf } from "@flotilla/kubernetes";
import { componentOf } from "../components.ts";
import { conditionsIn, laterOf, putStatus, wholeStatus } from "../member-status.ts";

interface Notebook extends KubernetesObject {
  spec?: JsonObject;
  status?: JsonObject;
}

/** A container that terminated by itself is healthy, unless for one of these reasons. */
const FAILURES = new Set<unknown>(["Error", "OOMKilled", "ContainerCannotRun"]);

export const notebookInterpreter: KindInterpreter<Notebook> = {
  group: "kubeflow.org",
  kind: "Notebook",
  replicas(notebook) {
    const { replicas, requirements } = componentOf(
      notebook,
      { name: "the notebook", template: notebook.spec?.["template"] },
      1,
    );
    return { replicas, requirements };
  },
  reflectStatus(notebook) {
    const status = statusOf(notebook);
    if (!status) return undefined;
    const { readyReplicas, containerState } = status;
    const conditions = conditionsIn(status);
    return {
      readyReplicas: readyReplicas ?? 0,
      ...defined({ containerState: isObject(containerState) ? containerState : undefined }),
      ...omitEmpty({ conditions }),
    };
  },
  aggregateStatus(notebook, items) {
    const only = items.length === 1 ? items[0] : undefined;
    return putStatus(notebook, only ? wholeStatus(only) : sumStatuses(items));
  },
  isHealthy(notebook) {
    const state = statusOf(notebook)?.["containerState"];
    if (!isObject(state)) return false;
    const { running, waiting, terminated } = state;
    if (running) return true;
    if (waiting) return isObject(waiting) && waiting["reason"] === "ContainerCreating";
    return isObject(terminated) && !FAILURES.has(terminated["reason"]) && (terminated["exitCode"] ?? 0) === 0;
  },
};

/** The container state of the last member where it does not run; if all run, of the one that started last. */
function sumStatuses(items: readonly StatusItem[]): JsonObject {
  const failedIn: string[] = [];
  let readyReplicas = 0;
  let running = 0;
  let failure: JsonObject = {};
  let failedAt = "";
  let startedAt = "";
  for (const { clusterName, status } of items) {
    if (!isObject(status)) continue;
    readyReplicas += countOf(status["readyReplicas"]);
    const state = isObject(status["containerState"]) ? status["containerState"] : {};
    if (state["terminated"] || state["waiting"] || Object.keys(state).length === 0) {
      failedIn.push(clusterName);
      failure = Object.keys(state).length === 0 ? { waiting: { reason: "Unschedulable" } } : state;
      for (const { lastTransitionTime } of conditionsIn(status)) failedAt = laterOf(failedAt, lastTransitionTime);
    } else if (isObject(state["running"])) {
      running++;
      startedAt = laterOf(startedAt, state["running"]["startedAt"]);
    }
  }
  if (failedIn.length > 0) {
    return {
      readyReplicas,
      containerState: failure,
      conditions: [
        condition(
          "Failed",
          failedAt,
          "NotebookFailed",
          `Notebook executed failed in member clusters: ${failedIn.join(", ")}`,
        ),
      ],
    };
  }
  return {
    readyReplicas,
    ...defined({
      containerState: running > 0 ? { running: omitZero({ startedAt }) } : undefined,
      conditions:
        running > 0 && running === items.length
          ? [condition("Ready", startedAt, "Ready", "All notebooks are ready")]
          : undefined,
    }),
  };
}

function condition(type: string, time: string, reason: string, message: string): JsonObject {
  return { type, status: "True", ...omitZero({ lastProbeTime: time, lastTransitionTime: time }), reason, message };
}
