/** Rules that select requests by operation and resource, as webhooks and admission policies have them. */
import type { DeepReadonly } from "@flotilla/base";
import { changeItems, field, fill } from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type { Rule, RuleWithOperations } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";

const ANY = "*";
const OPERATIONS = [ANY, "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES = [ANY, "Cluster", "Namespaced"];

export const FAILURE_POLICIES = ["Fail", "Ignore"];
export const MATCH_POLICIES = ["Equivalent", "Exact"];
export const REINVOCATION_POLICIES = ["IfNeeded", "Never"];

/** An error for a value that is set and not supported. */
export function checkOneOf(path: string, value: string | undefined, supported: readonly string[]): FieldError[] {
  return value === undefined || supported.includes(value) ? [] : [field.notSupported(path, value, supported)];
}

export function completeRules<T extends Rule>(rules: readonly DeepReadonly<T>[]): readonly DeepReadonly<T>[] {
  return changeItems<T>(rules, (rule) => fill(rule, { scope: ANY } as Partial<DeepReadonly<T>>));
}

export function checkMatchRule(at: string, rule: Sent<RuleWithOperations>): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  return [
    ...checkWildcard(`${at}.operations`, operations, "operations"),
    ...operations.flatMap((operation, index) => checkOneOf(`${at}.operations[${index}]`, operation, OPERATIONS)),
    // The core group has an empty name.
    ...checkWildcard(`${at}.apiGroups`, apiGroups, "API groups"),
    ...checkWildcard(`${at}.apiVersions`, apiVersions, "API versions"),
    ...apiVersions.flatMap((version, index) => (version === "" ? [field.required(`${at}.apiVersions[${index}]`)] : [])),
    ...checkResources(`${at}.resources`, resources),
    ...checkOneOf(`${at}.scope`, scope, SCOPES),
  ];
}

function checkWildcard(path: string, list: readonly string[], what: string): FieldError[] {
  if (list.length === 0) return [field.required(path)];
  return list.length > 1 && list.includes(ANY)
    ? [field.invalid(path, list, `if '*' is present, must not specify other ${what}`)]
    : [];
}

// `pods`, `pods/log`, `pods/*`, `*/scale`, `*` and `*/*`. What a wildcard covers must not be listed after it.
function checkResources(path: string, resources: readonly string[]): FieldError[] {
  if (resources.length === 0) return [field.required(path)];
  const errors: FieldError[] = [];
  const [allSubresources, allResources] = [new Set<string>(), new Set<string>()];
  let hasPlain = false;
  for (const [index, text] of resources.entries()) {
    const at = `${path}[${index}]`;
    if (text === "") {
      errors.push(field.required(at));
      continue;
    }
    const slash = text.indexOf("/");
    if (slash < 0) {
      // As upstream: only the last resource without a subresource counts.
      hasPlain = text !== ANY;
      continue;
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    if (allSubresources.has(resource))
      errors.push(field.invalid(at, text, `if '${resource}/*' is present, must not specify ${text}`));
    if (allResources.has(subresource))
      errors.push(field.invalid(at, text, `if '*/${subresource}' is present, must not specify ${text}`));
    if (subresource === ANY) allSubresources.add(resource);
    if (resource === ANY) allResources.add(subresource);
  }
  if (resources.length > 1 && resources.includes("*/*"))
    errors.push(field.invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  if (resources.includes(ANY) && hasPlain)
    errors.push(
      field.invalid(path, resources, "if '*' is present, must not specify other resources without subresources"),
    );
  return errors;
}
