/** Which templates a policy change affects: those that it selects or has claimed, before or after the change. */
import { gvkOf } from "@flotilla/apimachinery";
import { selectsClusterScoped } from "@flotilla/karmada";
import type { ClusterPropagationPolicy, PropagationPolicy } from "@flotilla/karmada";
import { equalJson } from "@flotilla/base";
import type { ObjectEvent } from "@flotilla/controller-runtime";
import { matchesResource } from "../policies/resource-selector.ts";
import { keyOfTemplate } from "../templates/templates.ts";
import type { Template, TemplateKey, Templates } from "../templates/templates.ts";
import { alignSelectors } from "./align-selectors.ts";
import type { IsServed } from "./align-selectors.ts";
import { claimOf, type Policy } from "./plan-match.ts";

type AnyPolicy = PropagationPolicy | ClusterPropagationPolicy;
type Reads = Pick<Templates, "find" | "list">;

/** More templates than match are harmless: their reconcile decides. */
const anyVersion: IsServed = () => true;

export function* affectedByChange(
  templates: Reads,
  { object, old, deleted }: ObjectEvent<AnyPolicy>,
): Iterable<TemplateKey> {
  if (old && !deleted && !isOther(old, object)) return;
  if (old) yield* affectedTemplates(templates, old);
  yield* affectedTemplates(templates, object);
}

export function* affectedTemplates(templates: Reads, policy: Policy): Iterable<TemplateKey> {
  for (const template of named(templates, policy)) {
    const isClaimed = claimOf(template)?.name === policy.metadata.name;
    if (isClaimed || matchesResource(template, alignSelectors(policy, template, anyVersion).spec.resourceSelectors))
      yield keyOfTemplate(template);
  }
}

/**
 * The objects that the selectors can match at all; a selector with a name matches one object, without reading all
 * objects of the kind.
 */
function* named(templates: Reads, { metadata, spec }: Policy): Iterable<Template> {
  for (const selector of spec.resourceSelectors) {
    const namespace = selectsClusterScoped(selector)
      ? undefined
      : selector.namespace || metadata.namespace || undefined;
    const isOne = selector.name && (namespace !== undefined || selectsClusterScoped(selector));
    if (!isOne || !selector.name) yield* templates.list(selector, namespace);
    else {
      const { group, kind } = gvkOf(selector);
      const found = templates.find({ group, kind, namespace: namespace ?? "", name: selector.name });
      if (found) yield found;
    }
  }
}

/** We write a policy's status ourselves; its labels and annotations are copied to bindings. */
function isOther(before: Policy, after: Policy): boolean {
  const marks = ({ metadata }: Policy): unknown => [
    metadata.uid,
    metadata.generation,
    metadata.deletionTimestamp,
    metadata.labels,
    metadata.annotations,
  ];
  return !equalJson(marks(before), marks(after));
}
