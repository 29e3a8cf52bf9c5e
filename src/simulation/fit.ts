/**
 * Whether a pod may run on a node, and why not. Pure; the reason is what the user reads in the pod's condition.
 *
 * Honoured: cordons, taints, nodeSelector, required node affinity, requests of cpu and memory, the number of pods. Rules
 * between pods (affinity, hard topology spread) are not simulated: such a pod is not placed, and says so.
 */
import type { Node, NodeSelectorTerm, Pod } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { milli, requestsOf } from "./node-usage.ts";
import type { Usage } from "./node-usage.ts";

type ReadonlyNode = DeepReadonly<Node>;
type ReadonlyPod = DeepReadonly<Pod>;

/** What no node can fulfil, because the simulation does not know it. */
export function unsupportedRule({ spec }: ReadonlyPod): string | undefined {
  if (spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length) return "the simulation does not support required pod affinity";
  if (spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length) return "the simulation does not support required pod anti-affinity";
  if (spec.topologySpreadConstraints?.some(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule")) return "the simulation does not support topology spread constraints with DoNotSchedule";
  return undefined;
}

/** Undefined when the pod fits. */
export function whyNot(pod: ReadonlyPod, node: ReadonlyNode, usage: Readonly<Usage>): string | undefined {
  if (node.spec?.unschedulable) return "node(s) were unschedulable";
  if (node.status?.conditions?.some(({ type, status }) => type === "Ready" && status !== "True")) return "node(s) were not ready";
  const taint = node.spec?.taints?.find((candidate) => candidate.effect !== "PreferNoSchedule" && !tolerates(pod, candidate));
  if (taint) return `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`;
  if (!matchesNode(pod, node)) return "node(s) didn't match Pod's node affinity/selector";
  const { pods, cpu, memory } = node.status?.allocatable ?? node.status?.capacity ?? {};
  const requests = requestsOf(pod);
  if (usage.pods + 1 > milli(pods) / 1000) return "Too many pods";
  if (usage.cpu + requests.cpu > milli(cpu)) return "Insufficient cpu";
  if (usage.memory + requests.memory > milli(memory)) return "Insufficient memory";
  return undefined;
}

type Taint = NonNullable<NonNullable<ReadonlyNode["spec"]>["taints"]>[number];

function tolerates({ spec }: ReadonlyPod, taint: Taint): boolean {
  return (spec.tolerations ?? []).some(({ key, operator = "Equal", value = "", effect }) => {
    if (effect && effect !== taint.effect) return false;
    if (!key) return operator === "Exists";
    return key === taint.key && (operator === "Exists" || value === (taint.value ?? ""));
  });
}

function matchesNode({ spec }: ReadonlyPod, node: ReadonlyNode): boolean {
  const labels = node.metadata.labels ?? {};
  if (!Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms === undefined || terms.some((term) => matchesTerm(term, node));
}

function matchesTerm({ matchExpressions = [], matchFields = [] }: DeepReadonly<NodeSelectorTerm>, node: ReadonlyNode): boolean {
  // An empty term matches nothing.
  if (matchExpressions.length + matchFields.length === 0) return false;
  const byLabel = matchExpressions.every((rule) => satisfies(rule, node.metadata.labels?.[rule.key]));
  return byLabel && matchFields.every((rule) => satisfies(rule, rule.key === "metadata.name" ? node.metadata.name : undefined));
}

function satisfies({ operator, values = [] }: { readonly operator: string; readonly values?: readonly string[] }, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return value !== undefined && Number(value) > Number(values[0]);
    case "Lt":
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}
