/** What admission policies and their bindings have in common: the requests they apply to, and their parameters. */
import type { DeepReadonly } from "@flotilla/base";
import {
  change,
  checkSelector,
  checkText,
  dns1035LabelProblems,
  dnsSubdomainProblems,
  field,
  fill,
  pathSegmentProblems,
} from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type {
  MatchResources,
  NamedRuleWithOperations,
  ParamKind,
  ParamRef,
} from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { checkMatchRule, checkOneOf, completeRules, MATCH_POLICIES } from "./match-rules.ts";

type Read<T> = DeepReadonly<T>;

const NOT_FOUND_ACTIONS = ["Deny", "Allow"];
/** An object that is deleted cannot be changed. */
const MUTATING_OPERATIONS = ["*", "CONNECT", "CREATE", "UPDATE"];

const DEFAULTS: Partial<MatchResources> = { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} };

export function completeMatchResources(resources: Read<MatchResources>): Read<MatchResources> {
  const filled = change(fill(resources, DEFAULTS), "resourceRules", (rules) => completeRules(rules));
  return change(filled, "excludeResourceRules", (rules) => completeRules(rules));
}

export function checkMatchResources(at: string, resources: Sent<MatchResources>): FieldError[] {
  const { matchPolicy, namespaceSelector, objectSelector, resourceRules = [], excludeResourceRules = [] } = resources;
  return [
    ...checkOneOf(`${at}.matchPolicy`, matchPolicy, MATCH_POLICIES),
    ...checkSelector(`${at}.namespaceSelector`, namespaceSelector as Read<MatchResources>["namespaceSelector"]),
    ...checkSelector(`${at}.objectSelector`, objectSelector as Read<MatchResources>["objectSelector"]),
    ...resourceRules.flatMap((rule, index) => checkNamedRule(`${at}.resourceRules[${index}]`, rule)),
    ...excludeResourceRules.flatMap((rule, index) => checkNamedRule(`${at}.excludeResourceRules[${index}]`, rule)),
  ];
}

/** The requests of a policy. At least one rule is required. */
export function checkMatchConstraints(at: string, constraints: Sent<MatchResources> | undefined): FieldError[] {
  if (!constraints) return [field.required(at)];
  return [
    ...checkMatchResources(at, constraints),
    ...((constraints.resourceRules ?? []).length === 0 ? [field.required(`${at}.resourceRules`)] : []),
  ];
}

/** Only operations with a new object can be mutated. */
export function checkMutatingOperations(at: string, { resourceRules = [] }: Sent<MatchResources> = {}): FieldError[] {
  return resourceRules.flatMap(({ operations = [] }) =>
    operations.flatMap((operation) => checkOneOf(`${at}.resourceRules.operations`, operation, MUTATING_OPERATIONS)),
  );
}

function checkNamedRule(at: string, rule: Sent<NamedRuleWithOperations>): FieldError[] {
  const names = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, name] of (rule.resourceNames ?? []).entries()) {
    errors.push(...checkText(`${at}.resourceNames[${index}]`, name, pathSegmentProblems));
    if (names.has(name)) errors.push(field.duplicate(`${at}.resourceNames[${index}]`, name));
    names.add(name);
  }
  return [...errors, ...checkMatchRule(at, rule)];
}

export function checkParamKind(at: string, { apiVersion = "", kind = "" }: Sent<ParamKind>): FieldError[] {
  return [...checkApiVersion(`${at}.apiVersion`, apiVersion), ...checkKind(`${at}.kind`, kind)];
}

function checkApiVersion(path: string, apiVersion: string): FieldError[] {
  if (apiVersion === "") return [field.required(path)];
  const parts = apiVersion === "/" ? [""] : apiVersion.split("/");
  if (parts.length > 2) return [field.invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const version = parts.at(-1) ?? "";
  const group = parts.length === 2 ? (parts[0] ?? "") : "";
  return [
    ...(group === "" ? [] : joined(path, group, dnsSubdomainProblems(group))),
    ...(version === ""
      ? [field.invalid(path, apiVersion, "version must be specified")]
      : joined(path, version, dns1035LabelProblems(version))),
  ];
}

function checkKind(path: string, kind: string): FieldError[] {
  if (kind === "") return [field.required(path)];
  const problems = dns1035LabelProblems(kind.toLowerCase());
  return problems.length === 0
    ? []
    : [field.invalid(path, kind, `may have mixed case, but should otherwise match: ${problems.join(",")}`)];
}

const joined = (path: string, value: string, problems: readonly string[]): FieldError[] =>
  problems.length === 0 ? [] : [field.invalid(path, value, problems.join(","))];

export function checkParamRef(at: string, reference: Sent<ParamRef> | undefined): FieldError[] {
  if (!reference) return [];
  const { name = "", selector, parameterNotFoundAction: action = "" } = reference;
  const both = field.forbidden(`${at}.name`, "name and selector are mutually exclusive");
  return [
    ...(name === "" ? [] : checkText(`${at}.name`, name, pathSegmentProblems)),
    ...(name !== "" && selector ? [both] : []),
    ...checkSelector(`${at}.selector`, selector as Read<ParamRef>["selector"]),
    ...(name !== "" && selector ? [{ ...both, field: `${at}.selector` }] : []),
    ...(name === "" && !selector ? [field.required(at, "one of name or selector must be specified")] : []),
    ...(action === ""
      ? [field.required(`${at}.parameterNotFoundAction`)]
      : checkOneOf(`${at}.parameterNotFoundAction`, action, NOT_FOUND_ACTIONS)),
  ];
}

export function checkPolicyName(path: string, name = ""): FieldError[] {
  return name === "" ? [field.required(path)] : checkText(path, name, dnsSubdomainProblems);
}

/** Cells of `kubectl get`. */
export const paramKindCell = (kind: Read<ParamKind> | undefined): string =>
  kind ? `${kind.apiVersion ?? ""}/${kind.kind ?? ""}` : "<unset>";

export function paramRefCell(reference: Read<ParamRef> | undefined): string {
  const { name, namespace, selector } = reference ?? {};
  // Whether the parameter belongs to a namespace is not known here.
  if (name) return `${namespace || "*"}/${name}`;
  return selector ? formatSelectorObject(selector) : "<unset>";
}

/** A selector as Go prints the object. */
function formatSelectorObject({
  matchLabels = {},
  matchExpressions = [],
}: Read<NonNullable<ParamRef["selector"]>>): string {
  const labels = Object.keys(matchLabels)
    .toSorted()
    .map((key) => `${key}: ${matchLabels[key]},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
