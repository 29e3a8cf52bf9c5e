/**
 * FlinkDeployment: a job manager and its task managers, whose pods share one template. A job runs on one member, so of
 * several statuses the last one is shown.
 *
 * As in Karmada, memory is a Kubernetes quantity: `2Gi` means the same to Flink, but Flink's own `1g` is rejected and
 * its `2048m` counts as thousandths. Unlike in Karmada, fields that no member reports are omitted instead of being
 * written as empty.
 */
import { omitZero, textOf } from "@flotilla/base";
import { compareQuantities } from "@flotilla/apimachinery";
import type { KubernetesObject, Quantity } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import {
  InterpretError,
  pickFields,
  placedRequirements,
  quantityIn,
  reportedStatuses,
  statusOf,
} from "@flotilla/kubernetes";
import type { Component, KindInterpreter, PodPlacement, ReplicaRequirements } from "@flotilla/kubernetes";
import { componentOf, replicasOr } from "../components.ts";
import { putStatus } from "../member-status.ts";
import { replicaTotal } from "../replica-total.ts";

type Role = "jobManager" | "taskManager";
interface Manager {
  replicas?: unknown;
  resource?: { cpu?: unknown; memory?: unknown };
}
interface FlinkDeployment extends KubernetesObject {
  spec?: {
    jobManager?: Manager;
    taskManager?: Manager;
    job?: { parallelism?: unknown };
    flinkConfiguration?: Record<string, unknown>;
    podTemplate?: { spec?: PodPlacement };
  };
  status?: {
    jobStatus?: { state?: unknown };
    jobManagerDeploymentStatus?: unknown;
    lifecycleState?: unknown;
    error?: unknown;
  };
}
type Deployment = DeepReadonly<FlinkDeployment>;

const FIELDS = [
  "clusterInfo",
  "error",
  "jobManagerDeploymentStatus",
  "jobStatus",
  "lifecycleState",
  "observedGeneration",
  "reconciliationStatus",
  "taskManager",
];

/** A job that runs, has ended, or is between the two. */
const SETTLED = new Set<unknown>([
  "RUNNING",
  "FINISHED",
  "FAILED",
  "CANCELED",
  "SUSPENDED",
  "CANCELLING",
  "FAILING",
  "RESTARTING",
]);
const STARTING = new Set<unknown>(["CREATED", "INITIALIZING", "RECONCILING"]);
/**
 * A job that cannot start because of its own configuration would not start on another member either, so it is not
 * moved.
 */
const USER_ERRORS = ["ErrImagePull", "ImagePullBackOff", "CrashLoopBackOff"];

export const flinkDeploymentInterpreter: KindInterpreter<FlinkDeployment> = {
  group: "flink.apache.org",
  kind: "FlinkDeployment",
  /** One number and one kind of pod cannot distinguish the managers, so every pod counts as the larger of them. */
  replicas(deployment) {
    const { namespace } = deployment.metadata;
    const requirements = {
      ...requirementsOf(deployment, ["jobManager", "taskManager"]),
      ...omitZero({ namespace }),
    };
    return { replicas: replicaTotal([jobManagers(deployment), taskManagers(deployment)]), requirements };
  },
  components: (deployment) => [
    component(deployment, "jobManager", jobManagers(deployment)),
    component(deployment, "taskManager", taskManagers(deployment)),
  ],
  reflectStatus(deployment) {
    const status = statusOf(deployment);
    return status && pickFields(status, FIELDS);
  },
  aggregateStatus(deployment, items) {
    const last = reportedStatuses(items).at(-1);
    const others = Object.entries(statusOf(deployment) ?? {}).filter(([field]) => !FIELDS.includes(field));
    return putStatus(deployment, {
      ...Object.fromEntries(others),
      ...(last ? pickFields(last, FIELDS) : { observedGeneration: 0 }),
    });
  },
  isHealthy({ status }) {
    const state = status?.jobStatus?.state ?? undefined;
    if (state === undefined)
      return status?.jobManagerDeploymentStatus === "READY" && status.lifecycleState === "STABLE";
    if (STARTING.has(state)) return USER_ERRORS.some((error) => textOf(status?.error).includes(error));
    return SETTLED.has(state);
  },
};

const jobManagers = ({ spec }: Deployment): number => replicasOr(1, spec?.jobManager?.replicas);

/** As many as requested, or as the slots of the job require. */
function taskManagers({ spec }: Deployment): number {
  const slots = replicasOr(0, spec?.flinkConfiguration?.["taskmanager.numberOfTaskSlots"]);
  const parallelism = replicasOr(NaN, spec?.job?.parallelism);
  const needed = slots === 0 || Number.isNaN(parallelism) ? 1 : Math.ceil(parallelism / slots);
  return replicasOr(needed, spec?.taskManager?.replicas);
}

function component(deployment: Deployment, role: Role, replicas: number): Component {
  return {
    ...componentOf(deployment, { name: role.toLowerCase(), template: undefined }, replicas),
    requirements: requirementsOf(deployment, [role]),
  };
}

/** The requirements of each pod of the roles, or the larger of them. */
function requirementsOf(deployment: Deployment, roles: readonly Role[]): ReplicaRequirements {
  const amounts = new Map<string, Quantity>();
  for (const role of roles) {
    for (const resource of ["cpu", "memory"] as const) {
      const value = deployment.spec?.[role]?.resource?.[resource] ?? undefined;
      if (value === undefined) continue;
      const field = `spec.${role}.resource.${resource}`;
      const amount = quantityIn(deployment, field, value);
      if (resource === "memory" && amount.mantissa < 0n)
        throw new InterpretError(`reading ${field} of ${deployment.kind} ${deployment.metadata.name}: it is negative`);
      const other = amounts.get(resource);
      if (!other || compareQuantities(amount, other) > 0) amounts.set(resource, amount);
    }
  }
  // As in Karmada's rules, affinity is ignored.
  const { nodeSelector, tolerations, priorityClassName } = deployment.spec?.podTemplate?.spec ?? {};
  return placedRequirements(deployment, amounts, { nodeSelector, tolerations, priorityClassName });
}
