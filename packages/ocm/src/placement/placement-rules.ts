/**
 * Upstream accepts any Placement, and one with an expression that does not compile loses all its clusters. Here such an
 * expression is rejected on write. Other mistakes that make a Placement misconfigured or leave it without clusters
 * cause a warning.
 */
import type { DeepReadonly } from "@flotilla/base";
import { ApiError, field, labelSelectorOf } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import type { ClusterSelector, PrioritizerConfig } from "@flotilla/apimachinery/facts/cluster-ocm-v1beta1.ts";
import { CLUSTER_GROUP, DEFAULT_CLUSTER_SET } from "../ocm-names.ts";
import { OcmPlacement } from "./placement-kind.ts";
import { needsReview } from "../webhook/webhook.ts";
import { clusterSelectorProblem } from "../expressions/cluster-expressions.ts";

type Spec = DeepReadonly<OcmPlacement>["spec"];

/** Every expression is compiled when it is written, and evaluated for every cluster whenever one changes. */
const MAX_EXPRESSIONS = 100;
const MAX_EXPRESSION_BYTES = 10 * 1024;

export const placementRules: AnyAdmission[] = [
  {
    name: "PlacementExpressions",
    for: OcmPlacement,
    on: ["CREATE", "UPDATE"],
    validate: (review: Review<OcmPlacement>) =>
      needsReview(review) ? checkExpressions(review.object.spec, review.oldObject?.spec) : [],
    warnings: (review: Review<OcmPlacement>) =>
      needsReview(review) ? [...misconfigurations(review.object.spec), ...bindingWarnings(review)] : [],
  },
];

/** A stored expression is accepted unchanged, so that it does not block other updates. */
function checkExpressions(spec: Spec, oldSpec: Spec | undefined): FieldError[] {
  const known = new Set(oldSpec ? expressionsOf(oldSpec).map(({ expression }) => expression) : []);
  const expressions = expressionsOf(spec).filter(({ expression }) => !known.has(expression));
  if (expressions.length > MAX_EXPRESSIONS)
    return [field.tooMany("spec.predicates", expressions.length, MAX_EXPRESSIONS)];
  return expressions.flatMap(({ field: path, expression }) => {
    if (Buffer.byteLength(expression) > MAX_EXPRESSION_BYTES) return [field.tooLong(path, MAX_EXPRESSION_BYTES)];
    const problem = clusterSelectorProblem(expression);
    return problem === undefined ? [] : [field.invalid(path, expression, problem)];
  });
}

function expressionsOf({ predicates = [] }: Spec): { field: string; expression: string }[] {
  return predicates.flatMap(({ requiredClusterSelector }, predicate) =>
    (requiredClusterSelector?.celSelector?.celExpressions ?? []).map((expression, index) => ({
      field: `spec.predicates[${predicate}].requiredClusterSelector.celSelector.celExpressions[${index}]`,
      expression,
    })),
  );
}

const MODES = ["Additive", "Exact"];
const OPERATORS = ["Equal", "Exists"];
const PRIORITIZERS = ["Balance", "Steady", "ResourceAllocatableCPU", "ResourceAllocatableMemory"];
/** Selectors beyond this number are not checked for warnings. */
const MAX_CHECKED = 100;
const misconfigured = (at: string, why: string): string => `${at}: ${why}; the Placement will be misconfigured`;

function misconfigurations(given: Spec): string[] {
  const { predicates = [], decisionStrategy, prioritizerPolicy, tolerations = [], numberOfClusters } = given;
  const { mode = "Additive", configurations = [] } = prioritizerPolicy ?? {};
  const { decisionGroups = [] } = decisionStrategy?.groupStrategy ?? {};
  return [
    ...(numberOfClusters !== undefined && numberOfClusters < 0
      ? [`spec.numberOfClusters: ${numberOfClusters} selects no cluster`]
      : []),
    ...predicates
      .slice(0, MAX_CHECKED)
      .flatMap(({ requiredClusterSelector }, index) =>
        selectorWarnings(`spec.predicates[${index}].requiredClusterSelector`, requiredClusterSelector),
      ),
    ...(mode === "" || MODES.includes(mode)
      ? []
      : [misconfigured("spec.prioritizerPolicy.mode", `${mode} is not one of ${MODES.join(", ")}`)]),
    ...configurations
      .slice(0, MAX_CHECKED)
      .flatMap((configuration, index) =>
        prioritizerWarnings(`spec.prioritizerPolicy.configurations[${index}].scoreCoordinate`, configuration),
      ),
    ...decisionGroups
      .slice(0, MAX_CHECKED)
      .flatMap(({ groupClusterSelector }, index) =>
        selectorWarnings(
          `spec.decisionStrategy.groupStrategy.decisionGroups[${index}].groupClusterSelector`,
          groupClusterSelector,
        ),
      ),
    ...tolerations.flatMap(({ key = "", operator = "Equal", value = "" }, index) => {
      const at = `spec.tolerations[${index}]`;
      if (!OPERATORS.includes(operator))
        return [misconfigured(`${at}.operator`, `${operator} is not one of ${OPERATORS.join(", ")}`)];
      if (key === "" && operator !== "Exists")
        return [misconfigured(`${at}.operator`, "must be Exists when there is no key")];
      return operator === "Exists" && value !== ""
        ? [misconfigured(`${at}.value`, "must be empty when the operator is Exists")]
        : [];
    }),
  ];
}

/** Labels and claims use the same selector syntax. */
function selectorWarnings(
  at: string,
  { labelSelector, claimSelector }: DeepReadonly<Pick<ClusterSelector, "labelSelector" | "claimSelector">> = {},
): string[] {
  return Object.entries({ labelSelector, claimSelector }).flatMap(([field, selector]) => {
    try {
      labelSelectorOf(selector);
      return [];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return [misconfigured(`${at}.${field}`, error.message)];
    }
  });
}

function prioritizerWarnings(at: string, { scoreCoordinate, weight = 1 }: DeepReadonly<PrioritizerConfig>): string[] {
  // Prioritizers with weight zero are skipped.
  if (weight === 0) return [];
  const { type, builtIn = "", addOn } = scoreCoordinate;
  if (type !== "BuiltIn") return addOn ? [] : [misconfigured(`${at}.addOn`, "is missing")];
  return PRIORITIZERS.includes(builtIn)
    ? []
    : [misconfigured(`${at}.builtIn`, `${builtIn || "nothing"} is not one of ${PRIORITIZERS.join(", ")}`)];
}

/**
 * Shorthand used in guides: a Placement in the namespace `default` that names the set `default` selects from it without
 * a binding. It is limited to this namespace, because a binding needs a permission that the author of a Placement may
 * not have. It does not depend on other bindings: creating one must not move workloads.
 */
export function usesUnboundDefault({ metadata, spec }: DeepReadonly<OcmPlacement>): boolean {
  return metadata.namespace === "default" && (spec.clusterSets ?? []).includes(DEFAULT_CLUSTER_SET);
}

function bindingWarnings({ object, read }: Review<OcmPlacement>): string[] {
  const { namespace = "" } = object.metadata;
  const { clusterSets = [] } = object.spec;
  const bound = new Set(
    read
      .list({ group: CLUSTER_GROUP, plural: "managedclustersetbindings" }, namespace)
      .map(({ metadata }) => metadata.name),
  );
  const warnings: string[] = [];
  if (usesUnboundDefault(object) && !bound.has(DEFAULT_CLUSTER_SET)) {
    warnings.push(
      `namespace ${namespace} has no ManagedClusterSetBinding to ${DEFAULT_CLUSTER_SET}, but the set ` +
        `${DEFAULT_CLUSTER_SET} counts as bound there; the canonical form is a ManagedClusterSetBinding with ` +
        `the name and spec.clusterSet ${DEFAULT_CLUSTER_SET}`,
    );
    bound.add(DEFAULT_CLUSTER_SET);
  }
  if (bound.size === 0) return [`namespace ${namespace} has no ManagedClusterSetBinding; no cluster is selected`];
  const unbound = clusterSets.filter((set) => !bound.has(set));
  if (unbound.length > 0)
    warnings.push(
      `spec.clusterSets: namespace ${namespace} has no ManagedClusterSetBinding to ${unbound.join(", ")}; no cluster of it is selected`,
    );
  return warnings;
}
