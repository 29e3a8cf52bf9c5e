/**
 * Kubeflow MPIJob, with Karmada's rules: a job that runs on one member has that member's status; for conditions on
 * several members the newest of each type is used. Components are sorted by name.
 */
import { isObject, type JsonObject, defined, omitEmpty, textOf } from "@flotilla/base";
import { pickFields, statusOf } from "@flotilla/kubernetes";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";
import { componentOf, replicasOr } from "../components.ts";
import { conditionsIn, putStatus, wholeStatus } from "../member-status.ts";
import { hasNotFailed } from "./health.ts";
import { trainingTimeToLive } from "./time-to-live.ts";
import { rolesOf, sumReplicaStatuses, timesOf, type TrainingJob } from "./replica-specs.ts";

const SPECS = "mpiReplicaSpecs";

export const mpiJobInterpreter: KindInterpreter<TrainingJob> = {
  group: "kubeflow.org",
  kind: "MPIJob",
  timeToLive: trainingTimeToLive,
  components(job) {
    const specs = job.spec?.[SPECS];
    const described = rolesOf(job, SPECS, isObject(specs) ? Object.keys(specs).toSorted() : []).filter(
      ({ template }) => (template ?? null) !== null,
    );
    // A launcher can do the work alone, so there are workers only if requested.
    return described.map((role) =>
      componentOf(job, role, replicasOr(role.name.toLowerCase() === "worker" ? 0 : 1, role.replicas)),
    );
  },
  reflectStatus(job) {
    const status = statusOf(job);
    return status && reported(status);
  },
  aggregateStatus(job, items) {
    if (items.length === 0) return job;
    const only = items.length === 1 ? items[0] : undefined;
    return putStatus(job, only ? wholeStatus(only) : sumStatuses(items));
  },
  /** An empty list of conditions counts as none. */
  isHealthy(job) {
    const conditions = statusOf(job)?.["conditions"];
    return Array.isArray(conditions) && conditions.length > 0 && hasNotFailed(job);
  },
};

function reported(status: JsonObject): JsonObject {
  const roles = isObject(status["replicaStatuses"]) ? Object.entries(status["replicaStatuses"]) : [];
  const replicaStatuses = Object.fromEntries(
    roles.flatMap(([role, counts]) =>
      isObject(counts) ? [[role, pickFields(counts, ["active", "succeeded", "failed", "selector"])]] : [],
    ),
  );
  const conditions = conditionsIn(status);
  return {
    ...pickFields(status, ["startTime", "completionTime", "lastReconcileTime"]),
    ...defined({ replicaStatuses: roles.length > 0 ? replicaStatuses : undefined }),
    ...omitEmpty({ conditions }),
  };
}

function sumStatuses(items: readonly StatusItem[]): JsonObject {
  const replicaStatuses = sumReplicaStatuses(items);
  const conditions = newestConditions(items);
  return {
    ...Object.fromEntries(Object.entries(timesOf(items)).filter(([, time]) => time !== "")),
    ...omitEmpty({ replicaStatuses, conditions }),
  };
}

function newestConditions(items: readonly StatusItem[]): JsonObject[] {
  const newest = new Map<string, JsonObject>();
  for (const { status } of items) {
    for (const condition of isObject(status) ? conditionsIn(status) : []) {
      const type = textOf(condition["type"]);
      const known = newest.get(type);
      if (timeOf(condition) > (known ? timeOf(known) : "")) newest.set(type, condition);
    }
  }
  return [...newest.values()];
}

const timeOf = ({ lastUpdateTime, lastTransitionTime }: JsonObject): string =>
  textOf(lastUpdateTime ?? lastTransitionTime);
