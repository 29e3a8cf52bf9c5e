/** Validates cluster affinities beyond their schema. */
import type { DeepReadonly } from "@flotilla/base";
import { checkSelector, field } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { ClusterAffinity } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";

const FIELDS = ["provider", "region", "zone"];
const OPERATORS = ["In", "NotIn"];

export function checkClusterAffinity(at: string, affinity: DeepReadonly<ClusterAffinity> | undefined): FieldError[] {
  const fieldSelector = affinity?.fieldSelector;
  for (const { key, operator } of fieldSelector?.matchExpressions ?? []) {
    const problem = !FIELDS.includes(key)
      ? `unsupported key ${JSON.stringify(key)}, must be provider, region, or zone`
      : !OPERATORS.includes(operator)
        ? `unsupported operator ${JSON.stringify(operator)}, must be In or NotIn`
        : undefined;
    if (problem !== undefined) return [field.invalid(`${at}.fieldSelector`, fieldSelector, problem)];
  }
  return [];
}

/** Karmada accepts an invalid label selector, which then matches no member. */
export function affinityWarnings(at: string, affinity: DeepReadonly<ClusterAffinity> | undefined): string[] {
  return checkSelector(`${at}.labelSelector`, affinity?.labelSelector).map(
    ({ field, message }) => `${field}: ${message}; no cluster matches`,
  );
}
