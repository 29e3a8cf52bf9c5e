/** Which requests a policy or a binding is for. Rules are evaluated once for each kind of request; the rest for each. */
import { labelSelectorOf } from "@flotilla/apimachinery";
import type { LabelSelector } from "@flotilla/apimachinery";
import type { MatchResources } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { AdmissionRequest } from "../admission-match/admission-request.ts";
import { equivalentsOf } from "../admission-match/equivalents.ts";
import { rulesMatch } from "../admission-match/match-rules.ts";
import type { RequestTarget } from "../admission-match/match-rules.ts";
import { selectsNamespace, selectsObject } from "../admission-match/selection.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import type { ResourceTable, ServedVersion } from "../resources/resources.ts";

type Rules = DeepReadonly<MatchResources>["resourceRules"];

/** A version of the request's objects that a rule names, and the objects to which the rule is limited. */
interface RuleMatch {
  readonly served: ServedVersion;
  readonly names: readonly string[] | undefined;
}

/** What is left to decide for each request of one kind. */
export interface MatchPlan {
  readonly included: readonly RuleMatch[];
  readonly excluded: readonly RuleMatch[];
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

/** Undefined when no request of this kind matches. A binding without rules takes what its policy takes. */
export function planMatch(
  resources: DeepReadonly<MatchResources>,
  table: ResourceTable,
  target: RequestTarget,
): MatchPlan | undefined {
  const { resourceRules = [], excludeResourceRules, matchPolicy, namespaceSelector, objectSelector } = resources;
  const find = (rules: Rules): RuleMatch[] => ruleMatches(rules, matchPolicy !== "Equivalent", table, target);
  const excluded = find(excludeResourceRules);
  if (excluded.some(({ names }) => names === undefined)) return undefined;
  const included = resourceRules.length === 0 ? [{ served: target.served, names: undefined }] : find(resourceRules);
  if (included.length === 0) return undefined;
  return {
    included,
    excluded,
    namespaceSelector: labelSelectorOf(namespaceSelector ?? {}),
    objectSelector: labelSelectorOf(objectSelector ?? {}),
  };
}

/** In the order in which they count: the version of the request, then equivalent ones in the order of the rules. */
function ruleMatches(rules: Rules = [], isExact: boolean, table: ResourceTable, target: RequestTarget): RuleMatch[] {
  const found: RuleMatch[] = [];
  const add = (rule: NonNullable<Rules>[number], served: ServedVersion): void => {
    if (!rulesMatch([rule], { ...target, served })) return;
    found.push({ served, names: rule.resourceNames?.length ? rule.resourceNames : undefined });
  };
  for (const rule of rules) add(rule, target.served);
  if (!isExact) for (const rule of rules) for (const served of equivalentsOf(table, target.served)) add(rule, served);
  return found;
}

/** The version in which the request is evaluated; undefined when it does not match. */
export function matchedVersion(
  store: ObjectStore,
  plan: MatchPlan,
  request: AdmissionRequest,
): ServedVersion | undefined {
  const isNamed = ({ names }: RuleMatch): boolean => names === undefined || names.includes(request.name ?? "");
  if (plan.excluded.some(isNamed)) return undefined;
  const served = plan.included.find(isNamed)?.served;
  if (!served || !selectsObject(plan.objectSelector, request)) return undefined;
  return selectsNamespace(store, plan.namespaceSelector, request) ? served : undefined;
}
