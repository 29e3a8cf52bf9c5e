/**
 * Computes the desired number of pods from resource usage. Pure.
 *
 * Pods that have just started are excluded from the average, or they would count as idle; pods without metrics are
 * assumed to use the amount that changes the result least. Amounts are thousandths (of a core, of a byte), as in
 * upstream.
 */
import { isObject } from "@flotilla/base";
import { quantityMilliValue, tryParseQuantity } from "@flotilla/apimachinery";
import { podCondition, timeMs } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";

/** The CPU usage of a starting pod is meaningless, and Ready must have been true for the whole measurement window. */
const CPU_START_MS = 5 * 60_000;
const FIRST_READY_MS = 30_000;
const WINDOW_MS = 15_000;

interface Tolerances {
  up: number;
  down: number;
}

export interface UsageInput {
  resource: string;
  /** Set if only one container counts, not the whole pod. */
  container?: string;
  pods: readonly ReadonlyPod[];
  /** Usage of a pod in thousandths; undefined if unknown. */
  usageOf(pod: ReadonlyPod): number | undefined;
  currentReplicas: number;
  /** Pods per replica of the target: more than 1 if several clusters run all replicas each. */
  podsPerReplica: number;
  tolerances: Tolerances;
  nowMs: number;
}

export type Proposal = { replicas: number; average: number; utilization?: number } | string;

/** Target as a percentage of the pods' requests. A string is the error. */
export function replicasByUtilization(input: UsageInput, targetPercent: number): Proposal {
  const requests = new Map<ReadonlyPod, number>();
  for (const pod of input.pods) {
    const request = requestOf(pod, input.resource, input.container);
    if (typeof request === "string") return request;
    requests.set(pod, request);
  }
  const measure = (
    used: ReadonlyMap<ReadonlyPod, number>,
  ): { ratio: number; average: number; utilization: number } | string => {
    let [total, requested] = [0, 0];
    for (const [pod, amount] of used) {
      total += amount;
      requested += requests.get(pod) ?? 0;
    }
    if (requested === 0) return "no metrics returned matched known pods";
    const utilization = Math.trunc((total * 100) / requested);
    return { ratio: utilization / targetPercent, average: Math.trunc(total / used.size), utilization };
  };
  return propose(input, measure, (pod) => Math.trunc(((requests.get(pod) ?? 0) * Math.max(100, targetPercent)) / 100));
}

/** Target as an average value per pod. */
export function replicasByAverage(input: UsageInput, target: number): Proposal {
  const measure = (used: ReadonlyMap<ReadonlyPod, number>): { ratio: number; average: number } => {
    let total = 0;
    for (const amount of used.values()) total += amount;
    const average = Math.trunc(total / used.size);
    return { ratio: average / target, average };
  };
  return propose(input, measure, () => target);
}

export const isTolerated = (ratio: number, { up, down }: Tolerances): boolean => 1 - down <= ratio && ratio <= 1 + up;

type Measure = (
  used: ReadonlyMap<ReadonlyPod, number>,
) => { ratio: number; average: number; utilization?: number } | string;

/** `whenMissing` is the assumed usage of a pod without metrics when scaling down. */
function propose(input: UsageInput, measure: Measure, whenMissing: (pod: ReadonlyPod) => number): Proposal {
  const { pods, usageOf, resource, currentReplicas, podsPerReplica, tolerances, nowMs } = input;
  if (pods.length === 0) return "no pods returned by selector while calculating replica count";
  const used = new Map<ReadonlyPod, number>();
  const starting: ReadonlyPod[] = [];
  const missing: ReadonlyPod[] = [];
  for (const pod of pods) {
    if (pod.metadata.deletionTimestamp || pod.status?.phase === "Failed") continue;
    const usage = usageOf(pod);
    if (pod.status?.phase === "Pending") starting.push(pod);
    else if (usage === undefined) missing.push(pod);
    else if (resource === "cpu" && isStarting(pod, nowMs)) starting.push(pod);
    else used.set(pod, usage);
  }
  if (used.size === 0) return "did not receive metrics for targeted pods (pods might be unready)";
  const measured = measure(used);
  if (typeof measured === "string") return measured;
  const { ratio, average, utilization } = measured;
  const answer = (replicas: number): Proposal => ({
    replicas,
    average,
    utilization,
  });
  const isWithin = (value: number): boolean => isTolerated(value, tolerances);
  const countsStarting = starting.length > 0 && ratio > 1;
  if (!countsStarting && missing.length === 0)
    return answer(isWithin(ratio) ? currentReplicas : Math.ceil((ratio * used.size) / podsPerReplica));

  if (ratio !== 1) for (const pod of missing) used.set(pod, ratio < 1 ? whenMissing(pod) : 0);
  if (countsStarting) for (const pod of starting) used.set(pod, 0);
  const again = measure(used);
  if (typeof again === "string") return again;
  // An assumption must not reverse the direction.
  if (isWithin(again.ratio) || (ratio < 1 && again.ratio > 1) || (ratio > 1 && again.ratio < 1))
    return answer(currentReplicas);
  const replicas = Math.ceil((again.ratio * used.size) / podsPerReplica);
  const isWrongWay = (again.ratio < 1 && replicas > currentReplicas) || (again.ratio > 1 && replicas < currentReplicas);
  return answer(isWrongWay ? currentReplicas : replicas);
}

function isStarting(pod: ReadonlyPod, nowMs: number): boolean {
  const ready = podCondition(pod, "Ready");
  const startMs = timeMs(pod.status?.startTime);
  if (!ready || startMs === 0) return true;
  const sinceMs = timeMs(ready.lastTransitionTime);
  if (startMs + CPU_START_MS > nowMs) return ready.status === "False" || nowMs < sinceMs + WINDOW_MS;
  return ready.status === "False" && startMs + FIRST_READY_MS > sinceMs;
}

/** The request of the pod in thousandths, or the error for the container without one. */
function requestOf({ metadata, spec }: ReadonlyPod, resource: string, container: string | undefined): number | string {
  const sidecars = spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === "Always") ?? [];
  const counted = [...spec.containers, ...sidecars].filter(({ name }) => container === undefined || name === container);
  if (counted.length === 0) return `container ${container} not found in Pod ${metadata.name}`;
  const ofPod = container === undefined ? spec.resources?.requests?.[resource] : undefined;
  if (ofPod !== undefined) return milliOf(ofPod);
  let sum = 0;
  for (const { name, resources } of counted) {
    const request = isObject(resources?.requests) ? resources.requests[resource] : undefined;
    if (request === undefined) return `missing request for ${resource} in container ${name} of Pod ${metadata.name}`;
    sum += milliOf(request);
  }
  return sum;
}

/** An unparsable quantity counts as 0; the API server has rejected it before. */
export function milliOf(text: string | number): number {
  const quantity = tryParseQuantity(text);
  return quantity ? Number(quantityMilliValue(quantity)) : 0;
}
