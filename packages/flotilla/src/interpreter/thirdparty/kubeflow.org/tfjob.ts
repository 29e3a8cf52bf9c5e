/**
 * Kubeflow TFJob, with Karmada's rules and two exceptions. The times of the aggregated conditions are the members'
 * newest, so that aggregating again changes nothing, and are in the fields that conditions of the kind have. A job that
 * no member runs is not completed.
 */
import { isObject, type JsonObject, defined } from "@flotilla/base";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";
import { statusOf } from "@flotilla/kubernetes";
import { conditionsIn, isTrue, laterOf, putStatus, nonEmpty } from "../member-status.ts";
import { hasNotFailed } from "./health.ts";
import { trainingTimeToLive } from "./time-to-live.ts";
import {
  idleStatus,
  roleComponents,
  sumReplicaStatuses,
  timesOf,
  trainingDependencies,
  type TrainingJob,
} from "./replica-specs.ts";

const SPECS = "tfReplicaSpecs";
const ROLES = ["PS", "Worker", "Chief", "Master", "Evaluator"];

export const tfJobInterpreter: KindInterpreter<TrainingJob> = {
  group: "kubeflow.org",
  kind: "TFJob",
  timeToLive: trainingTimeToLive,
  components: (job) => roleComponents(job, SPECS, ROLES),
  aggregateStatus(job, items) {
    if (items.length === 0) return putStatus(job, idleStatus(job));
    const { startTime, completionTime, lastReconcileTime } = timesOf(items);
    const { conditions, hasSucceeded } = conditionsOf(items);
    return putStatus(
      job,
      nonEmpty({
        ...statusOf(job),
        startTime,
        lastReconcileTime,
        ...defined({ completionTime: hasSucceeded ? completionTime : undefined }),
        replicaStatuses: sumReplicaStatuses(items, ROLES),
        conditions,
      }),
    );
  },
  isHealthy: hasNotFailed,
  dependencies: (job) => trainingDependencies(job, SPECS, ROLES),
};

/** Reports only how the job ended: failed if it failed on any member, succeeded if it succeeded on all. */
function conditionsOf(items: readonly StatusItem[]): { conditions: JsonObject[]; hasSucceeded: boolean } {
  const failedIn: string[] = [];
  let succeeded = 0;
  let failedAt = "";
  let succeededAt = "";
  for (const { clusterName, status } of items) {
    const end = isObject(status)
      ? conditionsIn(status).findLast((condition) => isTrue(condition, "Succeeded") || isTrue(condition, "Failed"))
      : undefined;
    if (end?.["type"] === "Failed") {
      failedIn.push(clusterName);
      failedAt = laterOf(failedAt, end["lastTransitionTime"]);
    } else if (end) {
      succeeded++;
      succeededAt = laterOf(succeededAt, end["lastTransitionTime"]);
    }
  }
  const hasSucceeded = succeeded > 0 && succeeded === items.length;
  const conditions: JsonObject[] = [];
  const add = (type: string, time: string, reason: string, message: string): void => {
    conditions.push({ type, status: "True", lastUpdateTime: time, lastTransitionTime: time, reason, message });
  };
  if (failedIn.length > 0)
    add("Failed", failedAt, "TFJobFailed", `TFJob executed failed in member clusters: ${failedIn.join(", ")}`);
  if (hasSucceeded) add("Succeeded", succeededAt, "Completed", "TFJob completed successfully");
  return { conditions, hasSucceeded };
}
