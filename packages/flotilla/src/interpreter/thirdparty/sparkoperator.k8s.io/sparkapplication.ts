/**
 * SparkApplication: a driver and its executors. Each member with a copy runs the whole application, so the most severe
 * state is shown.
 *
 * Unlike in Karmada's rules, times that no member reports are omitted instead of being written as empty strings, which
 * are not valid times. Executor names are unique per member only: of two with the same name the later member's state is
 * shown.
 */
import type { KubernetesObject, Quantity } from "@flotilla/apimachinery";
import { isObject, setOwn, type DeepReadonly, type JsonObject, textOf } from "@flotilla/base";
import {
  countOf,
  InterpretError,
  pickFields,
  placedRequirements,
  quantityIn,
  reportedStatuses,
  statusOf,
  sumOf,
} from "@flotilla/kubernetes";
import type { Component, KindInterpreter, PodPlacement, StatusItem } from "@flotilla/kubernetes";
import { componentOf, replicasOr as numberOr } from "../components.ts";
import { laterOf, putStatus, wholeStatus } from "../member-status.ts";
import { putField } from "../status-fields.ts";
import { parseJavaSize, totalMemory } from "./memory.ts";

interface SparkPod extends PodPlacement {
  cores?: unknown;
  memory?: unknown;
  memoryOverhead?: unknown;
  gpu?: { name?: unknown; quantity?: unknown };
  instances?: unknown;
}
interface SparkApplication extends KubernetesObject {
  spec?: {
    type?: unknown;
    memoryOverheadFactor?: unknown;
    driver?: SparkPod;
    executor?: SparkPod;
    dynamicAllocation?: { enabled?: unknown; initialExecutors?: unknown; minExecutors?: unknown };
  };
  status?: { applicationState?: { state?: unknown } };
}
type Application = DeepReadonly<SparkApplication>;

const REFLECTED = [
  "applicationState",
  "driverInfo",
  "executorState",
  "sparkApplicationId",
  "lastSubmissionAttemptTime",
  "submissionAttempts",
  "executionAttempts",
  "submissionID",
  "terminationTime",
];
const TIMES = ["lastSubmissionAttemptTime", "terminationTime"];

/** The states after which the operator deletes an application that has a time to live. */
const ENDED = new Set(["COMPLETED", "FAILED"]);
/** Severity of a state. */
const SEVERITY: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  ["", 0],
  ["UNKNOWN", 0],
  ["SUBMITTED", 1],
  ["PENDING_RERUN", 1],
  ["COMPLETED", 2],
  ["SUSPENDING", 3],
  ["SUSPENDED", 3],
  ["RUNNING", 4],
  ["RESUMING", 4],
  ["SUCCEEDING", 4],
  ["INVALIDATING", 5],
  ["FAILING", 6],
  ["FAILED", 6],
  ["SUBMISSION_FAILED", 6],
]);

export const sparkApplicationInterpreter: KindInterpreter<SparkApplication> = {
  group: "sparkoperator.k8s.io",
  kind: "SparkApplication",
  timeToLive: {
    path: ["spec", "timeToLiveSeconds"],
    endedAt: ({ applicationState, terminationTime }) =>
      isObject(applicationState) && ENDED.has(textOf(applicationState["state"]))
        ? textOf(terminationTime) || undefined
        : undefined,
  },
  components(application) {
    const factor = overheadFactorOf(application);
    return [
      component(application, "driver", 1, factor),
      component(application, "executor", executorsOf(application), factor),
    ];
  },
  reflectStatus(application) {
    const status = statusOf(application);
    return status && pickFields(status, REFLECTED);
  },
  aggregateStatus: (application, items) =>
    putStatus(application, items[0] && items.length === 1 ? wholeStatus(items[0]) : aggregate(application, items)),
  isHealthy({ status }) {
    const state = status?.applicationState?.state ?? undefined;
    return state !== undefined && state !== "FAILED";
  },
};

/** Spark's overhead as a fraction of the heap: interpreters of other languages need more than the JVM alone. */
function overheadFactorOf({ kind, metadata, spec }: Application): number {
  if (typeof spec?.type !== "string")
    throw new InterpretError(
      `reading spec.type of ${kind} ${metadata.name}: it must name the language of the application`,
    );
  return numberOr(/^(java|scala)$/i.test(spec.type) ? 0.1 : 0.4, spec.memoryOverheadFactor);
}

/** The initial number; an autoscaled application changes it later. */
function executorsOf({ spec }: Application): number {
  const instances = numberOr(1, spec?.executor?.instances);
  const { enabled, initialExecutors, minExecutors } = spec?.dynamicAllocation ?? {};
  return enabled ? Math.max(instances, numberOr(1, initialExecutors), numberOr(1, minExecutors)) : instances;
}

function component(application: Application, role: "driver" | "executor", replicas: number, factor: number): Component {
  const pod = application.spec?.[role] ?? {};
  const amounts = new Map<string, Quantity>([
    ["cpu", quantityIn(application, `spec.${role}.cores`, pod.cores ?? 1)],
    ["memory", memoryOf(application, role, factor)],
  ]);
  const gpu = textOf(pod.gpu?.name);
  const quantity = numberOr(0, pod.gpu?.quantity);
  if (gpu !== "" && quantity > 0) amounts.set(gpu, quantityIn(application, `spec.${role}.gpu.quantity`, quantity));
  return {
    ...componentOf(application, { name: role, template: undefined }, replicas),
    requirements: placedRequirements(application, amounts, pod),
  };
}

function memoryOf(application: Application, role: "driver" | "executor", factor: number): Quantity {
  const pod = application.spec?.[role] ?? {};
  const sizeIn = (
    field: "memory" | "memoryOverhead",
    value: unknown,
  ): NonNullable<ReturnType<typeof parseJavaSize>> => {
    const size = typeof value === "string" ? parseJavaSize(value) : undefined;
    if (!size)
      throw new InterpretError(
        `reading spec.${role}.${field} of ${application.kind} ${application.metadata.name}: it is not a number with a unit such as 512m or 2g`,
      );
    return size;
  };
  const overhead = pod.memoryOverhead ?? undefined;
  const total = totalMemory(
    sizeIn("memory", pod.memory ?? "1g"),
    overhead === undefined ? undefined : sizeIn("memoryOverhead", overhead),
    factor,
  );
  return quantityIn(application, `spec.${role}.memory`, total);
}

function aggregate(application: Application, items: readonly StatusItem[]): JsonObject {
  const statuses = reportedStatuses(items);
  const status: JsonObject = {
    ...statusOf(application),
    executionAttempts: sumOf(statuses, "executionAttempts"),
    submissionAttempts: sumOf(statuses, "submissionAttempts"),
  };
  putField(status, "applicationState", worstState(application, items));
  putField(status, "executorState", executorsIn(statuses));
  for (const field of TIMES)
    putField(status, field, statuses.reduce((latest, each) => laterOf(latest, each[field]), "") || undefined);
  return status;
}

/** The names come from members, so they are set with `setOwn`. */
function executorsIn(statuses: readonly JsonObject[]): JsonObject | undefined {
  let executors: JsonObject | undefined;
  for (const { executorState } of statuses) {
    if (!isObject(executorState)) continue;
    for (const name of Object.keys(executorState)) setOwn((executors ??= {}), name, executorState[name]);
  }
  return executors;
}

/** Throws for an unknown state: it may be the most severe one. */
function worstState({ kind, metadata }: Application, items: readonly StatusItem[]): JsonObject | undefined {
  let worst: JsonObject | undefined;
  for (const { clusterName, status } of items) {
    const state = isObject(status) ? status["applicationState"] : undefined;
    if (!isObject(state)) continue;
    if (!SEVERITY.has(state["state"]))
      throw new InterpretError(
        `summing the status of ${kind} ${metadata.name}: cluster ${clusterName} reports an unknown application state`,
      );
    if (!worst || countOf(SEVERITY.get(state["state"])) > countOf(SEVERITY.get(worst["state"]))) worst = state;
  }
  return worst;
}
