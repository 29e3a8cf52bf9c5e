/**
 * RayJob: a Ray cluster that exists for one job, and the pod that submits it. Each member with a copy runs the job, so
 * the most severe states are shown.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";
import { reportedStatuses, statusOf } from "@flotilla/kubernetes";
import { roleDependencies } from "../components.ts";
import { putStatus, wholeStatus } from "../member-status.ts";
import { isGiven, putField } from "../status-fields.ts";
import { clusterComponents, clusterRoles, type RayClusterSpec } from "./cluster-spec.ts";

interface RayJob extends KubernetesObject {
  spec?: { rayClusterSpec?: RayClusterSpec; submitterPodTemplate?: unknown };
  status?: JsonObject;
}

/** Severity of a state; unlisted states rank lowest. */
const DEPLOYMENT_SEVERITY: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  ["", 0],
  ["Initializing", 1],
  ["Waiting", 2],
  ["Suspending", 3],
  ["Suspended", 3],
  ["Retrying", 4],
  ["Running", 5],
  ["Complete", 6],
  ["ValidationFailed", 7],
  ["Failed", 8],
]);
const JOB_SEVERITY: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  ["PENDING", 1],
  ["RUNNING", 2],
  ["SUCCEEDED", 3],
  ["STOPPED", 4],
  ["FAILED", 5],
]);

export const rayJobInterpreter: KindInterpreter<RayJob> = {
  group: "ray.io",
  kind: "RayJob",
  components: (job) => clusterComponents(job, job.spec?.rayClusterSpec),
  aggregateStatus: (job, items) =>
    putStatus(job, items[0] && items.length === 1 ? wholeStatus(items[0]) : aggregate(job, items)),
  isHealthy: ({ status }) =>
    status?.["jobDeploymentStatus"] === "Running" ||
    (status?.["jobDeploymentStatus"] === "Complete" && status["jobStatus"] === "SUCCEEDED"),
  dependencies: (job) =>
    roleDependencies(job, [
      ...clusterRoles(job.spec?.rayClusterSpec),
      { name: "submitter", template: job.spec?.submitterPodTemplate },
    ]),
};

function aggregate(job: DeepReadonly<RayJob>, items: readonly StatusItem[]): JsonObject {
  const statuses = reportedStatuses(items);
  const deployment = worstOf(
    statuses.filter((status) => isGiven(status["jobDeploymentStatus"])),
    "jobDeploymentStatus",
    DEPLOYMENT_SEVERITY,
  );
  const ran = worstOf(
    statuses.filter(({ jobStatus }) => isGiven(jobStatus) && jobStatus !== ""),
    "jobStatus",
    JOB_SEVERITY,
  );
  const status: JsonObject = { ...statusOf(job) };
  for (const [field, from] of [
    ["jobStatus", ran],
    ["jobDeploymentStatus", deployment],
    ["reason", deployment],
    ["message", deployment],
  ] as const) {
    putField(status, field, from?.[field]);
  }
  return status;
}

/** The first of the most severe. */
function worstOf(
  statuses: readonly JsonObject[],
  field: string,
  concern: ReadonlyMap<unknown, number>,
): JsonObject | undefined {
  let worst: JsonObject | undefined;
  let most = -1;
  for (const status of statuses) {
    const rank = concern.get(status[field]) ?? 0;
    if (rank <= most) continue;
    worst = status;
    most = rank;
  }
  return worst;
}
