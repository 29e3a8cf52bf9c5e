/** Matches pods with nodes: selectors, affinity, taints. Pure; used by schedulers and DaemonSets. */
import type { DeepReadonly } from "@flotilla/base";
import type { Node, NodeSelectorTerm, Pod, Taint, Toleration } from "@flotilla/apimachinery/facts/core-v1.ts";

type ReadonlyPod = DeepReadonly<Pick<Pod, "spec">>;
type ReadonlyNode = DeepReadonly<Node>;

/** Whether this toleration tolerates the taint. */
export function tolerates(
  { key, operator = "Equal", value = "", effect }: DeepReadonly<Toleration>,
  taint: DeepReadonly<Taint>,
): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  const actual = taint.value ?? "";
  switch (operator) {
    case "Exists":
      return true;
    case "Lt":
      return isWhole(value) && isWhole(actual) && BigInt(actual) < BigInt(value);
    case "Gt":
      return isWhole(value) && isWhole(actual) && BigInt(actual) > BigInt(value);
    default:
      return key !== undefined && key !== "" && value === actual;
  }
}

const isWhole = (text: string): boolean => /^-?\d{1,19}$/.test(text);

export function toleratesTaint({ spec }: ReadonlyPod, taint: DeepReadonly<Taint>): boolean {
  return spec.tolerations?.some((toleration) => tolerates(toleration, taint)) ?? false;
}

/** The pod's nodeSelector and required node affinity. */
export function matchesNode({ spec }: ReadonlyPod, node: ReadonlyNode): boolean {
  const labels = node.metadata.labels ?? {};
  for (const key in spec.nodeSelector) if (labels[key] !== spec.nodeSelector[key]) return false;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms === undefined || matchesAnyTerm(terms, node);
}

export function matchesAnyTerm(terms: readonly DeepReadonly<NodeSelectorTerm>[], node: ReadonlyNode): boolean {
  return terms.some((term) => matchesTerm(term, node));
}

export function matchesTerm(
  { matchExpressions = [], matchFields = [] }: DeepReadonly<NodeSelectorTerm>,
  node: ReadonlyNode,
): boolean {
  // An empty term matches nothing.
  if (matchExpressions.length + matchFields.length === 0) return false;
  const { labels } = node.metadata;
  const byLabel = matchExpressions.every((rule) =>
    satisfies(rule, labels && Object.hasOwn(labels, rule.key) ? labels[rule.key] : undefined),
  );
  return (
    byLabel &&
    matchFields.every((rule) => satisfies(rule, rule.key === "metadata.name" ? node.metadata.name : undefined))
  );
}

function satisfies(
  { operator, values = [] }: { readonly operator: string; readonly values?: readonly string[] },
  value: string | undefined,
): boolean {
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
      return (
        value !== undefined && isWhole(value) && isWhole(values[0] ?? "") && BigInt(value) > BigInt(values[0] ?? "")
      );
    case "Lt":
      return (
        value !== undefined && isWhole(value) && isWhole(values[0] ?? "") && BigInt(value) < BigInt(values[0] ?? "")
      );
    default:
      return false;
  }
}
