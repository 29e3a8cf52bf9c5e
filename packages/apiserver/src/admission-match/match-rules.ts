/** Which requests the rules of webhooks and policies are for. Pure. */
import type { Operation } from "@flotilla/apimachinery";
import type { RuleWithOperations } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { ServedVersion } from "../resources/resources.ts";

export type AdmissionOperation = Operation | "CONNECT";

/** What a request is about, as rules name it. */
export interface Target {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly operation: AdmissionOperation;
  readonly namespaced: boolean;
}

/** What a request is about, as far as rules look at it. */
export interface RequestTarget {
  readonly served: ServedVersion;
  readonly subresource: string | undefined;
  readonly operation: AdmissionOperation;
}

export type Rule = DeepReadonly<RuleWithOperations>;

const ANY = "*";

/** Whether a rule is for the request, if its objects are in this version. */
export function rulesMatch(
  rules: readonly Rule[],
  { served: { resource, version }, subresource, operation }: RequestTarget,
): boolean {
  const { group, resource: plural } = resource.name;
  const target = { group, version, resource: plural, subresource, operation, namespaced: resource.namespaced };
  return rules.some((rule) => ruleMatches(rule, target));
}

/** The version that the first rule names which is for one of the equivalent versions. */
export function equivalentVersion(
  rules: readonly Rule[],
  target: RequestTarget,
  equivalents: readonly ServedVersion[],
): ServedVersion | undefined {
  for (const rule of rules) {
    const found = equivalents.find((served) => rulesMatch([rule], { ...target, served }));
    if (found) return found;
  }
  return undefined;
}

export function ruleMatches({ operations, apiGroups, apiVersions, resources, scope }: Rule, target: Target): boolean {
  return (
    includes(operations, target.operation) &&
    includes(apiGroups, target.group) &&
    includes(apiVersions, target.version) &&
    (resources ?? []).some((resource) => resourceMatches(resource, target)) &&
    (scope === undefined || scope === ANY || (scope === "Namespaced") === target.namespaced)
  );
}

function includes(list: readonly string[] | undefined, item: string): boolean {
  return list !== undefined && (list.includes(ANY) || list.includes(item));
}

// `pods`; `pods/status`; `pods/*`: pods and all their subresources; `*`: all but subresources; `*/scale`; `*/*`: all.
function resourceMatches(text: string, { resource, subresource = "" }: Target): boolean {
  const slash = text.indexOf("/");
  const wanted = slash < 0 ? text : text.slice(0, slash);
  const wantedPart = slash < 0 ? "" : text.slice(slash + 1);
  return (wanted === ANY || wanted === resource) && (wantedPart === ANY || wantedPart === subresource);
}
