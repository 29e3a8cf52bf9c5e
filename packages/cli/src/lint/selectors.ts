/** Evaluates policy and label selectors as far as possible without a hub. Pure. */
import { ApiError, labelSelectorOf, matchesLabels, parseApiVersion } from "@flotilla/apimachinery";
import type { LabelRequirement, LabelSelector } from "@flotilla/apimachinery";
import type { Json, JsonObject } from "@flotilla/base";
import { labelsAt, objectAt, textAt, valueAt } from "./fields.ts";
import type { LintManifest } from "./lint-manifest.ts";

/** The namespace of objects that set none. */
export const DEFAULT_NAMESPACE = "default";
export const namespaceOf = ({ namespace }: LintManifest): string => namespace || DEFAULT_NAMESPACE;

/** How specifically a selector names its objects; the most specific wins. */
export type Closeness = 1 | 2 | 3;

/** Whether an item of `resourceSelectors` matches an object, and how specifically; undefined when it does not. */
export function selects(selector: JsonObject, policy: LintManifest, object: LintManifest): Closeness | undefined {
  const { group } = parseApiVersion(textAt(selector, "apiVersion"));
  if (group !== object.group || textAt(selector, "kind") !== object.kind) return undefined;
  const isOfNamespace = !policy.kind.startsWith("Cluster");
  const wanted = textAt(selector, "namespace") || (isOfNamespace ? namespaceOf(policy) : "");
  if (wanted !== "" && wanted !== namespaceOf(object) && !isInNoNamespace(object)) return undefined;
  const name = textAt(selector, "name");
  if (name !== "") return name === object.name ? 3 : undefined;
  if (valueAt(selector, "labelSelector") === undefined) return 1;
  const labels = readSelector(valueAt(selector, "labelSelector"));
  return labels && matchesLabels(labels, labelsAt(object.object, "metadata", "labels")) ? 2 : undefined;
}

/** A SidecarSet is cluster-scoped, but manifests often set a namespace. */
const isInNoNamespace = ({ group, kind }: LintManifest): boolean => group === "apps.kruise.io" && kind === "SidecarSet";

/** Undefined for an invalid selector; the hub reports it itself. */
export function readSelector(value: Json | undefined): LabelSelector | undefined {
  try {
    return labelSelectorOf(objectAt(value));
  } catch (error) {
    if (error instanceof ApiError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Why no set of labels can satisfy all requirements; undefined when one can. */
export function contradictionIn(value: Json | undefined): string | undefined {
  const selector = readSelector(value);
  if (!selector) return undefined;
  const byKey = Map.groupBy(selector.requirements, ({ key }) => key);
  for (const [key, requirements] of byKey) {
    const reason = contradiction(key, requirements);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function contradiction(key: string, requirements: readonly LabelRequirement[]): string | undefined {
  const needed = requirements.filter(({ operator }) => operator === "=" || operator === "in");
  const isNeeded = needed.length > 0 || requirements.some(({ operator }) => operator === "exists");
  if (isNeeded && requirements.some(({ operator }) => operator === "!exists"))
    return `${key} must both exist and not exist`;
  if (needed.length === 0) return undefined;
  const refused = new Set(
    requirements.filter(({ operator }) => operator === "notin" || operator === "!=").flatMap(({ values }) => values),
  );
  const allowed = needed
    .map(({ values }) => new Set(values))
    .reduce((all, values) => all.intersection(values))
    .difference(refused);
  return allowed.size === 0
    ? `${key} would have to be ${needed.map(({ values }) => values.join(" or ")).join(" and ")}` +
        (refused.size > 0 ? `, but not ${[...refused].join(" or ")}` : "")
    : undefined;
}
