/**
 * RayService: a Ray cluster that serves applications. Its replicas are the head and all workers; a member's share keeps
 * one head and divides its workers over the groups in proportion.
 *
 * Unlike in Karmada's rules, a group never gets more than is left: there, groups that are rounded up could leave a
 * negative number to the last one.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type Json, type JsonObject, defined, omitEmpty } from "@flotilla/base";
import { compareQuantities, parseQuantity } from "@flotilla/apimachinery";
import type { KindInterpreter, ReplicaRequirements, StatusItem } from "@flotilla/kubernetes";
import { countOf, reportedStatuses, statusOf, sumOf } from "@flotilla/kubernetes";
import { componentOf, replicasOr, roleDependencies } from "../components.ts";
import { conditionsIn, isTrue, laterOf, putStatus, wholeStatus } from "../member-status.ts";
import { replicaTotal } from "../replica-total.ts";
import { isGiven } from "../status-fields.ts";
import { clusterRoles, groupListOf, headOf, workerGroupsOf, type RayClusterSpec } from "./cluster-spec.ts";

interface RayService extends KubernetesObject {
  spec?: { rayClusterConfig?: RayClusterSpec };
  status?: JsonObject;
}
type Service = DeepReadonly<RayService>;

/** Severity of an application state; unlisted states rank lowest. */
const SEVERITY: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  ["RUNNING", 0],
  ["NOT_STARTED", 1],
  ["DEPLOYING", 2],
  ["DELETING", 3],
  ["UNHEALTHY", 4],
  ["DEPLOY_FAILED", 5],
]);

export const rayServiceInterpreter: KindInterpreter<RayService> = {
  group: "ray.io",
  kind: "RayService",
  replicas(service) {
    const config = service.spec?.rayClusterConfig;
    const head = headOf(config);
    if (!head) return { replicas: 0 };
    const groups = workerGroupsOf(config);
    const requirements = largestOf([head, ...groups].map((role) => componentOf(service, role, 1).requirements));
    return {
      replicas: replicaTotal([1, ...groups.map((group) => group.replicas)]),
      requirements,
    };
  },
  reviseReplicas(service, replicas) {
    const config = service.spec?.rayClusterConfig;
    const groups = groupListOf(config);
    if (!config || groups.length === 0) return service;
    const shares = shareWorkers(
      groups.map((group) => replicasOr(0, group["replicas"])),
      Math.max(0, replicas - 1),
    );
    const workerGroupSpecs = groups.map((group, index) => ({ ...group, replicas: shares[index] ?? 0 }));
    return { ...service, spec: { ...service.spec, rayClusterConfig: { ...config, workerGroupSpecs } } };
  },
  aggregateStatus: (service, items) =>
    putStatus(service, items[0] && items.length === 1 ? wholeStatus(items[0]) : aggregate(service, items)),
  isHealthy: ({ status }) => isObject(status) && conditionsIn(status).some((condition) => isTrue(condition, "Ready")),
  dependencies: (service) => roleDependencies(service, clusterRoles(service.spec?.rayClusterConfig)),
};

/**
 * The head's requirements, with the CPU and memory of the largest pod. If the head has no requirements, none are used.
 */
function largestOf([head, ...workers]: readonly (ReplicaRequirements | undefined)[]): ReplicaRequirements | undefined {
  if (!head) return undefined;
  const resourceRequest = { ...head.resourceRequest };
  for (const worker of workers) {
    for (const resource of ["cpu", "memory"]) {
      const amount = worker?.resourceRequest?.[resource];
      if (
        amount !== undefined &&
        compareQuantities(parseQuantity(amount), parseQuantity(resourceRequest[resource] ?? "0")) > 0
      )
        resourceRequest[resource] = amount;
    }
  }
  return { ...head, ...omitEmpty({ resourceRequest }) };
}

/**
 * Distributes workers in proportion to the current groups, or evenly when all of them are empty. The last group gets
 * the remainder.
 */
function shareWorkers(current: readonly number[], workers: number): number[] {
  const total = current.reduce((sum, replicas) => sum + replicas, 0);
  let left = workers;
  return current.map((replicas, index) => {
    const fair =
      total === 0
        ? Math.floor(workers / current.length) + (index < workers % current.length ? 1 : 0)
        : Math.floor(workers * (replicas / total) + 0.5);
    const share = index === current.length - 1 ? left : Math.min(fair, left);
    left -= share;
    return share;
  });
}

function aggregate(service: Service, items: readonly StatusItem[]): JsonObject {
  const statuses = reportedStatuses(items);
  const { conditions: _conditions, lastUpdateTime: _time, ...others } = statusOf(service) ?? {};
  const conditions = statuses.flatMap(conditionsIn);
  const lastUpdateTime = statuses.reduce((latest, status) => laterOf(latest, status["lastUpdateTime"]), "");
  const active = activeServiceOf(statuses);
  const pending = statuses.find(({ pendingServiceStatus }) => isGiven(pendingServiceStatus))?.["pendingServiceStatus"];
  return {
    ...others,
    ...omitEmpty({ conditions, lastUpdateTime }),
    numServeEndpoints: sumOf(statuses, "numServeEndpoints"),
    observedGeneration: statuses.reduce((newest, status) => Math.max(newest, countOf(status["observedGeneration"])), 0),
    // The status of a service that does not run is empty.
    serviceStatus: statuses.some(({ serviceStatus }) => serviceStatus === "") ? "" : "Running",
    ...defined({ activeServiceStatus: active, pendingServiceStatus: pending }),
  };
}

/** The first member's status with the applications of all; of two with the same name the more severe one. */
function activeServiceOf(statuses: readonly JsonObject[]): JsonObject | undefined {
  const actives = statuses.map((status) => status["activeServiceStatus"]).filter(isObject);
  const [first] = actives;
  if (!first) return undefined;
  const applications = new Map<string, Json>();
  for (const { applicationStatuses } of actives) {
    for (const [name, application] of isObject(applicationStatuses) ? Object.entries(applicationStatuses) : []) {
      const other = applications.get(name);
      if (other === undefined || severityOf(application) > severityOf(other)) applications.set(name, application);
    }
  }
  const { applicationStatuses: _statuses, ...others } = first;
  return {
    ...others,
    ...defined({ applicationStatuses: applications.size > 0 ? Object.fromEntries(applications) : undefined }),
  };
}

const severityOf = (application: Json): number =>
  isObject(application) ? (SEVERITY.get(application["status"]) ?? 0) : 0;
