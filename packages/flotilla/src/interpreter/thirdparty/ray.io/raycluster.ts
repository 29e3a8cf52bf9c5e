/**
 * RayCluster: a head and groups of workers.
 *
 * Karmada's rules find no dependencies here, although they do for the kinds that contain a RayCluster; Flotilla follows
 * the pod templates for all three.
 */
import { addQuantities, formatQuantity, parseQuantity } from "@flotilla/apimachinery";
import type { KubernetesObject, Quantity } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import { InterpretError, quantityIn, reportedStatuses, statusOf, sumOf } from "@flotilla/kubernetes";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";
import { replicasOr as numberOr, roleDependencies } from "../components.ts";
import { conditionsIn, isTrue, laterOf, putStatus, wholeStatus } from "../member-status.ts";
import { isGiven, putField } from "../status-fields.ts";
import { clusterComponents, clusterRoles, type RayClusterSpec } from "./cluster-spec.ts";

interface RayCluster extends KubernetesObject {
  spec?: RayClusterSpec;
  status?: JsonObject;
}
type Cluster = DeepReadonly<RayCluster>;

const COUNTERS = [
  "readyWorkerReplicas",
  "availableWorkerReplicas",
  "maxWorkerReplicas",
  "minWorkerReplicas",
  "desiredWorkerReplicas",
];
/** The endpoints of a cluster are shown for the first member that reports them. */
const FIRST = ["endpoints", "head"];
const STATE = ["state", "stateTransitionTimes"];
const ZERO = parseQuantity("0");

export const rayClusterInterpreter: KindInterpreter<RayCluster> = {
  group: "ray.io",
  kind: "RayCluster",
  components: (cluster) => clusterComponents(cluster, cluster.spec),
  aggregateStatus: (cluster, items) =>
    putStatus(cluster, items[0] && items.length === 1 ? wholeStatus(items[0]) : aggregate(cluster, items)),
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
  for (const field of COUNTERS) status[field] = sumOf(statuses, field);
  for (const field of ["desiredCPU", "desiredMemory"]) status[field] = sumAmounts(cluster, statuses, field);
  for (const field of ["desiredGPU", "desiredTPU"]) status[field] = sumDevices(cluster, statuses, field);
  const conditions = statuses.flatMap(conditionsIn);
  putField(status, "conditions", conditions.length > 0 ? conditions : undefined);
  putField(
    status,
    "lastUpdateTime",
    statuses.reduce((latest, each) => laterOf(latest, each["lastUpdateTime"]), "") || undefined,
  );
  for (const field of FIRST) putField(status, field, statuses.find((each) => isGiven(each[field]))?.[field]);
  const first = statuses.find((each) => isGiven(each["state"]));
  for (const field of STATE) putField(status, field, first?.[field]);
  return status;
}

/** The values that members report; an empty string counts as none. */
function givenIn(statuses: readonly JsonObject[], field: string): Json[] {
  return statuses
    .map((status) => status[field])
    .filter(isGiven)
    .filter((value) => value !== "");
}

/** Added member by member, as upstream does: the format of the sum depends on the order. */
function sumAmounts(cluster: Cluster, statuses: readonly JsonObject[], field: string): string {
  // Most members report one of a few sizes.
  const known = new Map<Json, Quantity>();
  let sum = ZERO;
  for (const value of givenIn(statuses, field)) {
    let amount = known.get(value);
    if (!amount) known.set(value, (amount = quantityIn(cluster, `a member's ${field}`, value)));
    sum = addQuantities(sum, amount);
    if (sum.format !== "DecimalSI" && !hasBinarySuffix(sum)) sum = { ...sum, format: "DecimalSI" };
  }
  return formatQuantity(sum);
}

/** Whether a sum keeps its binary suffix when it is formatted. Only multiples of 1024 do; exponents are never kept. */
function hasBinarySuffix({ mantissa, exponent, format }: Quantity): boolean {
  return format === "BinarySI" && exponent >= 0 && (mantissa * 10n ** BigInt(exponent)) % 1024n === 0n;
}

/** Device counts are integers in a string. */
function sumDevices({ kind, metadata }: Cluster, statuses: readonly JsonObject[], field: string): string {
  let sum = 0;
  for (const value of givenIn(statuses, field)) sum += numberOr(NaN, value);
  if (Number.isNaN(sum))
    throw new InterpretError(`summing the status of ${kind} ${metadata.name}: a member's ${field} is not a number`);
  return String(sum);
}
