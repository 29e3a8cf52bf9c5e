/** Kubeflow PyTorchJob, with Karmada's rules. */
import { isObject, type JsonObject, defined } from "@flotilla/base";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";
import { statusOf } from "@flotilla/kubernetes";
import { conditionsIn, isTrue, putStatus, nonEmpty } from "../member-status.ts";
import { hasNotFailed } from "./health.ts";
import { trainingTimeToLive } from "./time-to-live.ts";
import {
  idleStatus,
  roleComponents,
  sumReplicaStatuses,
  timesOf,
  trainingDependencies,
  type JobTimes,
  type TrainingJob,
} from "./replica-specs.ts";

const SPECS = "pytorchReplicaSpecs";
const ROLES = ["Master", "Worker"];

export const pyTorchJobInterpreter: KindInterpreter<TrainingJob> = {
  group: "kubeflow.org",
  kind: "PyTorchJob",
  timeToLive: trainingTimeToLive,
  components: (job) => roleComponents(job, SPECS, ROLES),
  aggregateStatus(job, items) {
    if (items.length === 0) return putStatus(job, idleStatus(job));
    const times = timesOf(items);
    const { startTime, completionTime, lastReconcileTime } = times;
    const ends = endsOf(items);
    return putStatus(
      job,
      nonEmpty({
        ...statusOf(job),
        startTime,
        lastReconcileTime,
        ...defined({ completionTime: ends.hasSucceeded ? completionTime : undefined }),
        replicaStatuses: sumReplicaStatuses(items, ROLES),
        conditions: conditionsOf(ends, times),
      }),
    );
  },
  isHealthy: hasNotFailed,
  dependencies: (job) => trainingDependencies(job, SPECS, ROLES),
};

/** Summary of the members' conditions for the whole job. */
interface Ends {
  isCreated: boolean;
  /** The condition of the last member that runs or has run the job. */
  running?: JsonObject;
  failedIn: string[];
  hasSucceeded: boolean;
}

function endsOf(items: readonly StatusItem[]): Ends {
  const ends: Ends = { isCreated: false, failedIn: [], hasSucceeded: false };
  let succeeded = 0;
  for (const { clusterName, status } of items) {
    const conditions = isObject(status) ? conditionsIn(status) : [];
    if (conditions.some((condition) => isTrue(condition, "Created"))) ends.isCreated = true;
    const running = conditions.findLast(({ type }) => type === "Running");
    if (running) ends.running = running;
    if (conditions.some((condition) => isTrue(condition, "Failed"))) ends.failedIn.push(clusterName);
    else if (conditions.some((condition) => isTrue(condition, "Succeeded"))) succeeded++;
  }
  ends.hasSucceeded = succeeded === items.length;
  return ends;
}

/** In lifecycle order: tools show the last one. */
function conditionsOf(
  { isCreated, running, failedIn, hasSucceeded }: Ends,
  { startTime, completionTime }: JobTimes,
): JsonObject[] {
  const conditions: JsonObject[] = [];
  const add = (type: string, isSo: boolean, message: string, times: JsonObject): void => {
    conditions.push({ type, status: isSo ? "True" : "False", ...times, reason: `PyTorchJob${type}`, message });
  };
  const started = { lastUpdateTime: startTime, lastTransitionTime: startTime };
  const completed = { lastUpdateTime: completionTime, lastTransitionTime: completionTime };
  if (isCreated) add("Created", true, "PyTorchJob is created.", started);
  if (running) {
    const { lastUpdateTime = null, lastTransitionTime = null } = running;
    add("Running", failedIn.length === 0 && !hasSucceeded, "PyTorchJob is running.", {
      lastUpdateTime,
      lastTransitionTime,
    });
  }
  if (failedIn.length > 0)
    add("Failed", true, `PyTorchJob executed failed in member clusters: ${failedIn.join(", ")}`, completed);
  else if (hasSucceeded) add("Succeeded", true, "PyTorchJob is successfully completed.", completed);
  return conditions;
}
