/** The replica proposal of each metric of an autoscaler. Pure. */
import { formatQuantity, quantityOfMilli } from "@flotilla/apimachinery";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { milliOf, replicasByAverage, replicasByUtilization } from "./scaling-usage.ts";
import type { UsageInput } from "./scaling-usage.ts";
import { byExternalMetric, byObjectMetric, byPodsMetric } from "./scaling-values.ts";
import type { MetricInput, MetricProposal, MetricStatus } from "./metric-proposal.ts";
import type { MetricSpec } from "./metric-values.ts";

type Target = NonNullable<MetricSpec["resource"]>["target"];

export function proposeFor(metric: MetricSpec, input: MetricInput): MetricProposal {
  const { type, resource, containerResource, pods, object, external } = metric;
  if (type === "Resource" && resource) {
    const proposal = byResource(resource.name, undefined, resource.target, input);
    if (typeof proposal === "string")
      return {
        reason: "FailedGetResourceMetric",
        why: proposal,
        problem: `failed to get ${resource.name} resource metric value: ${proposal}`,
      };
    const name =
      resource.target.averageValue === undefined
        ? `${resource.name} resource utilization (percentage of request)`
        : `${resource.name} resource`;
    return {
      replicas: proposal.replicas,
      name,
      status: { type, resource: { name: resource.name, current: proposal.current } },
    };
  }
  if (type === "ContainerResource" && containerResource) {
    const { name: resourceName, container, target } = containerResource;
    const proposal = byResource(resourceName, container, target, input);
    if (typeof proposal === "string")
      return {
        reason: "FailedGetContainerResourceMetric",
        why: proposal,
        problem: `failed to get ${container} container metric value: ${proposal}`,
      };
    const name =
      target.averageValue === undefined
        ? `${resourceName} container resource utilization (percentage of request)`
        : `${resourceName} resource`;
    return {
      replicas: proposal.replicas,
      name,
      status: { type, containerResource: { name: resourceName, container, current: proposal.current } },
    };
  }
  if (type === "Pods" && pods) return byPodsMetric(pods, input);
  if (type === "Object" && object) return byObjectMetric(object, input);
  if (type === "External" && external) return byExternalMetric(external, input);
  const why = `unknown metric source type ${JSON.stringify(type)}`;
  return { reason: "InvalidMetricSourceType", why, problem: why };
}

interface ResourceProposal {
  replicas: number;
  current: NonNullable<MetricStatus["resource"]>["current"];
}

function byResource(
  resource: string,
  container: string | undefined,
  target: Target,
  input: MetricInput,
): ResourceProposal | string {
  const { cluster, pods, currentReplicas, podsPerReplica, tolerances, usage, nowMs } = input;
  const what = target.averageValue === undefined ? "utilization" : "usage";
  if (!usage)
    return (
      `failed to get ${resource} ${what}: unable to get metrics for resource ${resource}: unable to fetch ` +
      "metrics from resource metrics API: the server could not find the requested resource (get " +
      "pods.metrics.k8s.io)"
    );
  const usageOf = (pod: ReadonlyPod): number | undefined => {
    const used = usage.podUsage(cluster, pod);
    const part = container === undefined ? used : used?.containers.find(({ name }) => name === container);
    // Only these two are measured, as in upstream.
    return part && (resource === "cpu" ? part.cpu : resource === "memory" ? part.memory * 1000 : undefined);
  };
  const asked: UsageInput = {
    resource,
    container,
    pods,
    usageOf,
    currentReplicas,
    podsPerReplica,
    tolerances,
    nowMs,
  };
  if (target.averageValue === undefined && target.averageUtilization === undefined)
    return "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set";
  const proposal =
    target.averageValue === undefined
      ? replicasByUtilization(asked, target.averageUtilization ?? 100)
      : replicasByAverage(asked, milliOf(target.averageValue));
  if (typeof proposal === "string") return `failed to get ${resource} ${what}: ${proposal}`;
  const averageValue = formatQuantity(
    quantityOfMilli(BigInt(proposal.average), resource === "memory" ? "BinarySI" : "DecimalSI"),
  );
  return {
    replicas: proposal.replicas,
    current: { averageValue, averageUtilization: proposal.utilization },
  };
}
