/**
 * Replica proposals from custom and external metrics: values of the pods, of another object, or of something outside of
 * the cluster. Pure, over values that were read before. Amounts are thousandths.
 */
import { formatQuantity, quantityOfMilli } from "@flotilla/apimachinery";
import { podCondition } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import type { MetricInput, MetricProposal } from "./metric-proposal.ts";
import { isTolerated, milliOf, replicasByAverage } from "./scaling-usage.ts";
import type { PodsSource, ObjectSource, ExternalSource, MetricValue } from "./metric-values.ts";

const NO_CUSTOM_METRICS = "no custom metrics API (custom.metrics.k8s.io) registered";
const CUSTOM = "unable to fetch metrics from custom metrics API";
const EXTERNAL = "unable to fetch metrics from external metrics API";

export function byPodsMetric({ metric, target }: PodsSource, input: MetricInput): MetricProposal {
  const found = input.values?.ofPods(metric) ?? NO_CUSTOM_METRICS;
  const proposal =
    typeof found === "string"
      ? `unable to get metric ${metric.name}: ${CUSTOM}: ${found}`
      : replicasByAverage({ ...input, resource: "", usageOf: found }, milliOf(target.averageValue ?? 0));
  if (typeof proposal === "string")
    return {
      reason: "FailedGetPodsMetric",
      why: proposal,
      problem: `failed to get pods metric value: ${proposal}`,
    };
  return {
    replicas: proposal.replicas,
    name: `pods metric ${metric.name}`,
    status: { type: "Pods", pods: { metric, current: { averageValue: textOf(proposal.average) } } },
  };
}

export function byObjectMetric({ metric, describedObject, target }: ObjectSource, input: MetricInput): MetricProposal {
  const { kind, name } = describedObject;
  const found = input.values?.ofObject(describedObject, metric) ?? NO_CUSTOM_METRICS;
  const proposal =
    typeof found === "string"
      ? `unable to get metric ${metric.name}: ${kind} on ${input.namespace} ${name}/${CUSTOM}: ${found}`
      : byValue(found, target, input);
  if (typeof proposal === "string")
    return {
      reason: "FailedGetObjectMetric",
      why: proposal,
      problem: `failed to get object metric value: ${proposal}`,
    };
  return {
    replicas: proposal.replicas,
    name: `${kind} metric ${metric.name}`,
    status: { type: "Object", object: { metric, describedObject, current: proposal.current } },
  };
}

export function byExternalMetric({ metric, target }: ExternalSource, input: MetricInput): MetricProposal {
  const { name, selector } = metric;
  const found =
    input.values?.external(metric) ??
    `the server could not find the requested resource (get ${name}.external.metrics.k8s.io)`;
  const proposal =
    typeof found === "string"
      ? `unable to get external metric ${input.namespace}/${name}/${selector ? JSON.stringify(selector) : "nil"}: ${EXTERNAL}: ${found}`
      : byValue(found, target, input);
  if (typeof proposal === "string")
    return {
      reason: "FailedGetExternalMetric",
      why: proposal,
      problem: `failed to get ${name} external metric value: failed to get ${name} external metric: ${proposal}`,
    };
  return {
    replicas: proposal.replicas,
    name: `external metric ${name}(${selector ? JSON.stringify(selector) : "nil"})`,
    status: { type: "External", external: { metric, current: proposal.current } },
  };
}

interface ValueProposal {
  replicas: number;
  current: { value?: string; averageValue?: string };
}

/** A value for all replicas together, against a target value or a target per replica. */
function byValue(
  { milli, isPartial }: MetricValue,
  target: ObjectSource["target"],
  input: MetricInput,
): ValueProposal | string {
  const { currentReplicas, reportedReplicas, podsPerReplica, tolerances, pods } = input;
  const bounded = (replicas: number): number => (isPartial ? Math.max(replicas, currentReplicas) : replicas);
  if (target.averageValue !== undefined) {
    const each = milliOf(target.averageValue);
    const running = currentReplicas * podsPerReplica;
    const ratio = milli / (each * running);
    return {
      replicas: isTolerated(ratio, tolerances) ? currentReplicas : bounded(Math.ceil(milli / each / podsPerReplica)),
      current: { averageValue: textOf(Math.ceil(milli / (reportedReplicas || running))) },
    };
  }
  if (target.value === undefined) return "neither a target value nor a target per replica was set";
  if (pods.length === 0) return "no pods returned by selector while calculating replica count";
  const ratio = milli / milliOf(target.value);
  const ready = pods.filter(isReady).length;
  return {
    replicas: isTolerated(ratio, tolerances) ? currentReplicas : bounded(Math.ceil((ratio * ready) / podsPerReplica)),
    current: { value: textOf(milli) },
  };
}

const isReady = (pod: ReadonlyPod): boolean =>
  pod.status?.phase === "Running" && podCondition(pod, "Ready")?.status === "True";

const textOf = (milli: number): string => formatQuantity(quantityOfMilli(BigInt(milli), "DecimalSI"));
