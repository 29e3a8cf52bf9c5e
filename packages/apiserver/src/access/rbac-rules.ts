/** Matching of role rules. Pure, and called for every rule of a user on every request. */
import type { PolicyRule } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { AccessedResource } from "../request/authorize.ts";

type Rule = DeepReadonly<PolicyRule>;

const ALL = "*";
const NONE: readonly string[] = [];

export function allowsResource(
  { verbs, apiGroups = NONE, resources = NONE, resourceNames = NONE }: Rule,
  verb: string,
  { group, resource, subresource, name }: AccessedResource,
): boolean {
  return (
    names(verbs, verb) &&
    names(apiGroups, group) &&
    namesResource(resources, resource, subresource) &&
    (resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name)))
  );
}

export function allowsPath({ verbs, nonResourceURLs = NONE }: Rule, verb: string, path: string): boolean {
  return names(verbs, verb) && nonResourceURLs.some((pattern) => pattern === path || coversPath(pattern, path));
}

function names(list: readonly string[], item: string): boolean {
  return list.includes(item) || list.includes(ALL);
}

/** `pods`, `pods/log`, `*` for everything, and a subresource of everything as in `*` followed by `/scale`. */
function namesResource(list: readonly string[], resource: string, subresource: string | undefined): boolean {
  if (!subresource) return names(list, resource);
  return names(list, `${resource}/${subresource}`) || list.includes(`*/${subresource}`);
}

function coversPath(pattern: string, path: string): boolean {
  if (!pattern.endsWith(ALL)) return false;
  // A loop instead of a regular expression: a pattern of a million wildcards must not block the server.
  let end = pattern.length;
  while (end > 0 && pattern[end - 1] === ALL) end--;
  return path.startsWith(pattern.slice(0, end));
}

/** Counts the single-verb, single-resource parts of rules. */
export function countParts(rules: readonly Rule[]): number {
  return rules.reduce(
    (count, { verbs, apiGroups = NONE, resources = NONE, resourceNames = NONE, nonResourceURLs = NONE }) =>
      count +
      verbs.length * (apiGroups.length * resources.length * Math.max(1, resourceNames.length) + nonResourceURLs.length),
    0,
  );
}

/** The parts of `wanted` that the rules `held` do not cover, each with one verb and one resource. */
export function uncovered(held: readonly Rule[], wanted: readonly Rule[]): PolicyRule[] {
  return wanted.flatMap((rule) => [...breakDown(rule)]).filter((part) => !held.some((rule) => covers(rule, part)));
}

/** Splits a rule into rules with one group, resource, name and verb each, or one path and verb. */
function* breakDown({
  verbs,
  apiGroups = NONE,
  resources = NONE,
  resourceNames = NONE,
  nonResourceURLs = NONE,
}: Rule): Generator<PolicyRule> {
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const part: PolicyRule = { verbs: [verb], apiGroups: [group], resources: [resource] };
        if (resourceNames.length === 0) yield part;
        for (const name of resourceNames) yield { ...part, resourceNames: [name] };
      }
    }
  }
  for (const path of nonResourceURLs) for (const verb of verbs) yield { verbs: [verb], nonResourceURLs: [path] };
}

/** `part` has at most one entry per list. */
function covers(rule: Rule, part: PolicyRule): boolean {
  const { verbs, apiGroups = NONE, resources = NONE, resourceNames = NONE, nonResourceURLs = NONE } = rule;
  const [verb = ""] = part.verbs;
  if (!names(verbs, verb)) return false;
  const [path] = part.nonResourceURLs ?? NONE;
  if (path !== undefined)
    return (
      nonResourceURLs.some((pattern) => pattern === path || coversPath(pattern, path)) && resourceNames.length === 0
    );
  const [group = ""] = part.apiGroups ?? NONE;
  const [resource = ""] = part.resources ?? NONE;
  const [name] = part.resourceNames ?? NONE;
  const slash = resource.indexOf("/");
  const namesIt = names(resources, resource) || (slash >= 0 && resources.includes(`*${resource.slice(slash)}`));
  return (
    namesIt &&
    names(apiGroups, group) &&
    (resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name)))
  );
}

/** Merges parts that differ only by their verb. Returns sorted text, as forbidden errors list it. */
export function describeRules(parts: readonly PolicyRule[]): string[] {
  const merged = new Map<string, PolicyRule>();
  for (const part of parts) {
    const { verbs, ...about } = part;
    // Paths are listed separately per verb.
    const key = JSON.stringify(part.nonResourceURLs ? part : about);
    const known = merged.get(key);
    merged.set(key, known ? { ...known, verbs: [...known.verbs, ...verbs] } : part);
  }
  return [...new Set(Array.from(merged.values(), describeRule))].sort();
}

function describeRule({
  apiGroups = [],
  resources = [],
  nonResourceURLs = [],
  resourceNames = [],
  verbs,
}: PolicyRule): string {
  const fields = {
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  };
  return `{${Object.entries(fields)
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name}:${quoteList(list)}`)
    .join(", ")}}`;
}

/** A list of strings as Go prints it: `["a" "b"]`. */
export function quoteList(list: readonly string[]): string {
  return `[${list.map((text) => JSON.stringify(text)).join(" ")}]`;
}
