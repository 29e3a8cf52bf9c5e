/** The pods that a SidecarSet selects: by their labels, and by those of their namespace. Pure. */
import { NAMESPACE_NAME_LABEL } from "@flotilla/kubernetes";
import type { LabelSelector as LabelSelectorFacts } from "@flotilla/apimachinery/facts/meta-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { ApiError, badRequest, labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import type { LabelSelector } from "@flotilla/apimachinery";
import type { LabelledPod, NamespaceLabels, ReadonlyPod } from "@flotilla/kubernetes";
import { isHotUpgrade } from "./sidecarset-names.ts";
import type { ReadonlySidecarSet } from "./sidecarset-names.ts";
import { workingContainers } from "./records.ts";

/** Sets are evaluated for every pod; their selector objects are immutable. */
const selectors = new WeakMap<object, LabelSelector>();

const OPERATORS: ReadonlySet<string> = new Set(["In", "NotIn", "Exists", "DoesNotExist"]);

/** Throws `ApiError` for an invalid selector. */
export function selectorOfPart(part: DeepReadonly<LabelSelectorFacts> | undefined): LabelSelector {
  if (!part) return labelSelectorOf(part);
  let selector = selectors.get(part);
  if (!selector) {
    // OpenKruise has its own error messages for selectors.
    const unknown = part.matchExpressions?.find(({ operator }) => !OPERATORS.has(operator));
    if (unknown) throw badRequest(`${JSON.stringify(unknown.operator)} is not a valid pod selector operator`);
    selectors.set(part, (selector = labelSelectorOf(part)));
  }
  return selector;
}

/**
 * A set without a selector selects no pod, and one without a namespaceSelector all namespaces. Throws `ApiError` for an
 * invalid selector.
 */
export function isPodOfSet(
  { metadata }: LabelledPod,
  { spec }: Pick<ReadonlySidecarSet, "spec">,
  labelsOf: NamespaceLabels,
): boolean {
  const { selector, namespaceSelector } = spec;
  if (namespaceSelector) {
    const labels = labelsOf(metadata.namespace || "default");
    if (!labels || !matchesLabels(selectorOfPart(namespaceSelector), labels)) return false;
  }
  const pods = selectorOfPart(selector);
  return pods.requirements.length > 0 && matchesLabels(pods, metadata.labels);
}

/** The same for a set that was not validated: one with an invalid selector selects no pod. */
export function isPodOfAnySet(
  pod: LabelledPod,
  set: Pick<ReadonlySidecarSet, "spec">,
  labelsOf: NamespaceLabels,
): boolean {
  try {
    return isPodOfSet(pod, set, labelsOf);
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** The namespaces that a set lists by name; undefined if it uses a selector or all namespaces. */
function boundNamespaces({ spec }: ReadonlySidecarSet): readonly string[] | undefined {
  const name = spec.namespaceSelector?.matchLabels?.[NAMESPACE_NAME_LABEL];
  if (name !== undefined) return [name];
  return (
    spec.namespaceSelector?.matchExpressions?.find(
      ({ key, operator }) => key === NAMESPACE_NAME_LABEL && operator === "In",
    )?.values ?? undefined
  );
}

/** The sets that can select a pod of this namespace, in injection order: those bound to it first. */
export function inInjectionOrder(sets: readonly ReadonlySidecarSet[], namespace: string): ReadonlySidecarSet[] {
  const bound: ReadonlySidecarSet[] = [];
  const others: ReadonlySidecarSet[] = [];
  for (const set of sets) {
    const namespaces = boundNamespaces(set);
    if (!namespaces) others.push(set);
    else if (namespaces.includes(namespace)) bound.push(set);
  }
  return [...bound, ...others];
}

/** Whether a pod has every container of the set, so that the set can report its state. */
export function hasAllSidecars(pod: ReadonlyPod, { spec }: ReadonlySidecarSet): boolean {
  const names = new Set(pod.spec.containers?.map(({ name }) => name));
  return (spec.containers ?? []).every((container) => {
    if (!isHotUpgrade(container)) return names.has(container.name);
    return (
      workingContainers(pod).has(container.name) && names.has(`${container.name}-1`) && names.has(`${container.name}-2`)
    );
  });
}
