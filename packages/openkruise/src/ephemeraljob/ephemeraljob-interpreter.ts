/**
 * OpenKruise EphemeralJob: every member injects containers into its own pods. `spec.replicas` is the number of pods per
 * member; it is copied undivided, because it is not known in advance where the matching pods run.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type JsonObject, textOf } from "@flotilla/base";
import { countOf, podDependencies, replaceStatus, reportedStatuses, timeIn } from "@flotilla/kubernetes";
import type { KindInterpreter, ReferringContainer, StatusItem } from "@flotilla/kubernetes";
import { jobTimes, sums } from "../interpreter/merged-status.ts";

interface EphemeralJob extends KubernetesObject {
  spec?: { template?: { ephemeralContainers?: ReferringContainer[] } };
  status?: JsonObject;
}

const COUNTERS = ["match", "running", "succeeded", "waiting", "failed"];
/** The template shows the first of these phases that any member is in. */
const PHASES = ["Error", "Failed", "Unknown", "Paused", "Running", "Waiting", "Succeeded"];
const UNHEALTHY = new Set(["", "Error", "Failed", "Unknown"]);

export const ephemeralJobInterpreter: KindInterpreter<EphemeralJob> = {
  group: "apps.kruise.io",
  kind: "EphemeralJob",
  timeToLive: {
    path: ["spec", "ttlSecondsAfterFinished"],
    endedAt: (status) => timeIn(status, "completionTime"),
  },
  aggregateStatus: (job, items) =>
    replaceStatus(job, { ...jobTimes(items), phase: phaseOf(items), ...sums(items, COUNTERS) }),
  isHealthy: ({ status }) =>
    isObject(status) && !UNHEALTHY.has(textOf(status["phase"])) && countOf(status["failed"]) === 0,
  dependencies({ metadata, spec }) {
    const containers = spec?.template?.ephemeralContainers;
    return Array.isArray(containers)
      ? podDependencies({ spec: { containers: containers.filter(isObject) } }, metadata.namespace)
      : [];
  },
};

/** A member without matching pods waits forever, which does not affect the others. */
function phaseOf(items: readonly StatusItem[]): string {
  const concerned = reportedStatuses(items).filter(
    (status) => countOf(status["match"]) > 0 || status["phase"] !== "Waiting",
  );
  const phases = new Set(concerned.map((status) => status["phase"]));
  return PHASES.find((phase) => phases.has(phase)) ?? "Waiting";
}
