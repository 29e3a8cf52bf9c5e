/** Validation shared by pod workloads: a selector, a template that it matches, and counts in their status. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { checkSelector, field, labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import type { FieldError, KubernetesObject, Review } from "@flotilla/apimachinery";
import type { PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";

type Read<T> = DeepReadonly<T>;

/**
 * Validates the selector of a workload; returns true when it can be used for matching. `kind` is upstream's name for
 * the workload.
 */
export function checkOwnSelector(
  errors: FieldError[],
  selector: Read<LabelSelector> | undefined,
  kind: string,
): boolean {
  if (!selector) {
    errors.push(field.required("spec.selector"));
    return true;
  }
  const problems = checkSelector("spec.selector", selector);
  errors.push(...problems);
  if (isEmpty(selector)) errors.push(field.invalid("spec.selector", selector, `empty selector is invalid for ${kind}`));
  return problems.length === 0;
}

export const isEmpty = ({ matchLabels, matchExpressions }: Read<LabelSelector>): boolean =>
  Object.keys(matchLabels ?? {}).length + (matchExpressions?.length ?? 0) === 0;

/**
 * A workload that does not select the pods it creates would create pods without end. An absent selector selects
 * nothing.
 */
export function checkSelects(
  errors: FieldError[],
  at: string,
  selector: Read<LabelSelector> | undefined,
  template: Read<PodTemplateSpec> | undefined,
): void {
  const labels = template?.metadata?.labels;
  if (!matchesLabels(labelSelectorOf(selector), labels))
    errors.push(field.invalid(`${at}.metadata.labels`, labels, "`selector` does not match template `labels`"));
}

export function checkCounts<K extends string>(
  errors: FieldError[],
  at: string,
  counts: { readonly [key in K]?: number },
  names: readonly K[],
): void {
  for (const name of names) {
    const count = counts[name];
    if (count !== undefined && count < 0)
      errors.push(field.invalid(`${at}.${name}`, count, "must be greater than or equal to 0"));
  }
}

interface ReplicaCounts {
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
}

/** No partial count exceeds the total. */
export function checkReplicaCounts<K extends string>(
  errors: FieldError[],
  status: ReplicaCounts & { readonly [key in K]?: number },
  parts: readonly K[],
  readyField = "readyReplicas",
): void {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const part of parts) {
    const count = status[part] ?? 0;
    if (count > replicas) errors.push(field.invalid(`status.${part}`, count, "cannot be greater than status.replicas"));
  }
  if (availableReplicas > readyReplicas)
    errors.push(field.invalid("status.availableReplicas", availableReplicas, `cannot be greater than ${readyField}`));
}

/** Revision names are made unique by a counter that only increases. */
export function checkCollisionCount(errors: FieldError[], count: number | undefined, old: number | undefined): void {
  if (old !== undefined && (count ?? -1) < old)
    errors.push(field.invalid("status.collisionCount", count ?? 0, "cannot be decremented"));
}

/** True when the template is the same one that passed before. */
export function isSettled<T extends { readonly template?: unknown }>(spec: T, settled: T | undefined): boolean {
  return settled?.template !== undefined && settled.template === spec.template;
}

/** Emits warnings for the spec of a workload when it changes. */
export function specWarnings<T extends KubernetesObject>(
  { subresource, object, oldObject }: Review<T>,
  warningsOf: () => string[],
): string[] {
  if (subresource === "status") return [];
  const { spec } = object as unknown as { spec?: unknown };
  const { spec: old } = (oldObject ?? {}) as unknown as { spec?: unknown };
  return old !== undefined && equalJson(spec, old) ? [] : warningsOf();
}
