/** What a pod counts for: its requests and limits as the scheduler computes them, and its scopes. */
import type { DeepReadonly } from "@flotilla/base";
import { parseQuantity } from "@flotilla/apimachinery";
import { containerTotals } from "../pod/pod-resources.ts";
import type {
  Container,
  Pod,
  PodAffinityTerm,
  PodSpec,
  ScopedResourceSelectorRequirement,
} from "@flotilla/apimachinery/facts/core-v1.ts";
import { ONE, addAmounts, readAmounts, type Amounts } from "./amounts.ts";

type ReadPod = DeepReadonly<Pod>;
type Part = "requests" | "limits";

const isPodLevel = (name: string): boolean => name === "cpu" || name === "memory" || name.startsWith("hugepages-");

function podTotal(spec: DeepReadonly<PodSpec>, part: Part): Amounts {
  const total = new Map(Object.entries(containerTotals(spec, part)));
  for (const [name, amount] of readAmounts(spec.resources?.[part])) if (isPodLevel(name)) total.set(name, amount);
  const overhead = readAmounts(spec.overhead);
  // An absent limit stays unlimited.
  return addAmounts(total, part === "requests" ? overhead : new Map([...overhead].filter(([name]) => total.has(name))));
}

const COMPUTE = ["cpu", "memory", "ephemeral-storage"];

/** Requests and limits under their quota names. */
function computeUsage(requests: Amounts, limits: Amounts): Amounts {
  const usage = new Map([["pods", ONE]]);
  for (const name of COMPUTE) {
    const request = requests.get(name);
    const limit = limits.get(name);
    if (request) usage.set(name, request).set(`requests.${name}`, request);
    if (limit) usage.set(`limits.${name}`, limit);
  }
  for (const [name, request] of requests) {
    if (name.startsWith("hugepages-")) usage.set(name, request).set(`requests.${name}`, request);
    else if (name.includes("/")) usage.set(`requests.${name}`, request);
  }
  return usage;
}

/** A pod that is finished, or overdue for deletion, counts only as an object. */
function isCounted({ metadata, status }: ReadPod, nowMs: number): boolean {
  if (status?.phase === "Failed" || status?.phase === "Succeeded") return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  return (
    deletionTimestamp === undefined ||
    deletionGracePeriodSeconds === undefined ||
    nowMs <= Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000
  );
}

export function podUsage(pod: ReadPod, nowMs: number): Amounts {
  const count: Amounts = new Map([["count/pods", ONE]]);
  const { spec } = pod;
  if (!spec || !isCounted(pod, nowMs)) return count;
  return addAmounts(count, computeUsage(podTotal(spec, "requests"), podTotal(spec, "limits")));
}

const REQUIRED_COMPUTE_RESOURCES = ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"];

/** Every container must set the compute resources that a quota counts; otherwise the usage is unknown. */
export function podProblem({ spec }: ReadPod, required: ReadonlySet<string>): string | undefined {
  if (spec?.resources?.requests || spec?.resources?.limits) return undefined;
  const lacking = REQUIRED_COMPUTE_RESOURCES.filter((name) => required.has(name)).flatMap((name) => {
    const silent = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].filter(
      ({ resources }) => !computeUsage(readAmounts(resources?.requests), readAmounts(resources?.limits)).has(name),
    );
    return silent.length > 0
      ? [`${name} for: ${[...new Set(silent.map((container) => container.name))].sort().join(",")}`]
      : [];
  });
  return lacking.length > 0 ? `must specify ${lacking.join("; ")}` : undefined;
}

/** A pod with a deadline terminates on its own. */
export const isTerminating = ({ spec }: ReadPod): boolean =>
  spec?.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds >= 0;

function isBestEffort({ spec, status }: ReadPod): boolean {
  if (status?.qosClass) return status.qosClass === "BestEffort";
  const says = (resources: DeepReadonly<Container["resources"]>): boolean =>
    [resources?.requests, resources?.limits].some((amounts) =>
      [amounts?.cpu, amounts?.memory].some((amount) => amount !== undefined && parseQuantity(amount).mantissa > 0n),
    );
  return ![
    spec?.resources,
    ...[...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ resources }) => resources),
  ].some(says);
}

function hasCrossNamespaceAffinity({ spec }: ReadPod): boolean {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  const terms: DeepReadonly<PodAffinityTerm>[] = [podAffinity, podAntiAffinity].flatMap((affinity) => [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
  return terms.some(
    ({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined,
  );
}

export function podIsInScope(
  pod: ReadPod,
  { scopeName, operator, values = [] }: DeepReadonly<ScopedResourceSelectorRequirement>,
): boolean {
  switch (scopeName) {
    case "Terminating":
      return isTerminating(pod);
    case "NotTerminating":
      return !isTerminating(pod);
    case "BestEffort":
      return isBestEffort(pod);
    case "NotBestEffort":
      return !isBestEffort(pod);
    case "CrossNamespacePodAffinity":
      return hasCrossNamespaceAffinity(pod);
    case "PriorityClass":
      return matchesValue(pod.spec?.priorityClassName || undefined, operator, values);
    default:
      return false;
  }
}

/** Matches one value, or none, against a selector operator. */
export function matchesValue(value: string | undefined, operator: string, values: readonly string[]): boolean {
  switch (operator) {
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    default:
      return false;
  }
}
