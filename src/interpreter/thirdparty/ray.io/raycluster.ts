/**
 * RayCluster: a head and groups of workers.
 *
 * Karmada's rules find no dependencies here though they do for the kinds that hold a RayCluster; Flotilla brings along what
 * the pod templates name for all three.
 */
import type { KubernetesObject } from "../../../api/index.ts";
import { isObject, type DeepReadonly, type Json, type JsonObject } from "../../../base/index.ts";
import { addQuantities, compareQuantities, formatQuantity, parseQuantity, type Quantity } from "../../../machinery/index.ts";
import { InterpretError } from "../../interpret-error.ts";
import type { KindInterpreter, StatusItem } from "../../kind-interpreter.ts";
import { reportedStatuses, statusOf, sumOf } from "../../replica-status.ts";
import { replicasOr as numberOr, roleDependencies } from "../components.ts";
import { conditionsIn, isTrue, laterOf, putStatus, wholeStatus } from "../member-status.ts";
import { quantityIn } from "../operator-pods.ts";
import { clusterComponents, clusterRoles, type RayClusterSpec } from "./cluster-spec.ts";

interface RayCluster extends KubernetesObject {
  spec?: RayClusterSpec;
  status?: JsonObject;
}
type Cluster = DeepReadonly<RayCluster>;

const COUNTERS = ["readyWorkerReplicas", "availableWorkerReplicas", "maxWorkerReplicas", "minWorkerReplicas", "desiredWorkerReplicas"];
/** Where to reach a cluster is shown for the first member that says so. */
const FIRST = ["endpoints", "head"];
const STATE = ["state", "stateTransitionTimes"];
const ZERO = parseQuantity("0");
const KIBI = parseQuantity("1Ki");

export const rayClusterInterpreter: KindInterpreter<RayCluster> = {
  group: "ray.io",
  kind: "RayCluster",
  components: (cluster) => clusterComponents(cluster, cluster.spec),
  aggregateStatus: (cluster, items) => putStatus(cluster, items[0] && items.length === 1 ? wholeStatus(items[0]) : aggregate(cluster, items)),
  isHealthy({ status }) {
    const conditions = isObject(status) ? conditionsIn(status) : [];
    const holds = (type: string): boolean => conditions.some((condition) => isTrue(condition, type));
    return holds("HeadPodReady") && holds("RayClusterProvisioned") && !holds("RayClusterReplicaFailure");
  },
  dependencies: (cluster) => roleDependencies(cluster, clusterRoles(cluster.spec)),
};

function aggregate(cluster: Cluster, items: readonly StatusItem[]): JsonObject {
  const statuses = reportedStatuses(items);
  const status: JsonObject = { ...statusOf(cluster) };
  for (const field of [...FIRST, ...STATE, "conditions", "lastUpdateTime"]) delete status[field];
  for (const field of COUNTERS) status[field] = sumOf(statuses, field);
  for (const field of ["desiredCPU", "desiredMemory"]) status[field] = sumAmounts(cluster, statuses, field);
  for (const field of ["desiredGPU", "desiredTPU"]) status[field] = sumDevices(cluster, statuses, field);
  const conditions = statuses.flatMap(conditionsIn);
  if (conditions.length > 0) status["conditions"] = conditions;
  const lastUpdateTime = statuses.reduce((latest, each) => laterOf(latest, each["lastUpdateTime"]), "");
  if (lastUpdateTime) status["lastUpdateTime"] = lastUpdateTime;
  for (const field of FIRST) copy(status, field, statuses.find((each) => isGiven(each[field])));
  const first = statuses.find((each) => isGiven(each["state"]));
  for (const field of STATE) copy(status, field, first);
  return status;
}

const isGiven = (value: Json | undefined): value is Json => value !== undefined && value !== null;

function copy(status: JsonObject, field: string, from: JsonObject | undefined): void {
  const value = from?.[field];
  if (isGiven(value)) status[field] = value;
}

/** The values that members give; an empty text is none. */
function givenIn(statuses: readonly JsonObject[], field: string): Json[] {
  return statuses.map((status) => status[field]).filter((value) => isGiven(value) && value !== "") as Json[];
}

/** A sum in the notation of the first amount, as long as that can express it. */
function sumAmounts(cluster: Cluster, statuses: readonly JsonObject[], field: string): string {
  let sum = ZERO;
  for (const value of givenIn(statuses, field)) sum = settled(addQuantities(sum, quantityIn(cluster, `status.${field}`, value)));
  return formatQuantity(sum);
}

/** Binary suffixes do not express fractions and small numbers, and exponents are not how status is written. */
function settled(sum: Quantity): Quantity {
  const isPlain = sum.format === "DecimalExponent" || (sum.format === "BinarySI" && (sum.exponent < 0 || compareQuantities(sum, KIBI) < 0));
  return isPlain ? { ...sum, format: "DecimalSI" } : sum;
}

/** Devices are counted whole, so these are numbers in a text. */
function sumDevices({ kind, metadata }: Cluster, statuses: readonly JsonObject[], field: string): string {
  let sum = 0;
  for (const value of givenIn(statuses, field)) sum += numberOr(NaN, value);
  if (Number.isNaN(sum)) throw new InterpretError(`summing the status of ${kind} ${metadata.name}: a member's ${field} is not a number`);
  return String(sum);
}
