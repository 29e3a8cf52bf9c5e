/** Defaults and validation of FlowSchema. */
import { builtInAdmission, dnsLabelProblems, dnsSubdomainProblems, field } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError } from "@flotilla/apimachinery";
import type {
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from "@flotilla/apimachinery/facts/flowcontrol-v1.ts";
import { isDeepStrictEqual } from "node:util";
import type { DeepReadonly } from "@flotilla/base";
import { FlowSchema } from "./flow-schema-kind.ts";
import { mandatoryFlowSchemas } from "./flowcontrol-defaults.ts";

const DEFAULT_PRECEDENCE = 1000;
const MAX_PRECEDENCE = 10_000;
const EXEMPT = "exempt";
const ALL = "*";
const METHODS = ["ByNamespace", "ByUser"];
const SUBJECT_KINDS = ["Group", "ServiceAccount", "User"];
const RESOURCE_VERBS = "create delete deletecollection get list patch proxy update watch".split(" ");
const URL_VERBS = "delete get head options patch post put".split(" ");

function checkSpec(spec: DeepReadonly<FlowSchemaSpec>, name: string): FieldError[] {
  const errors: FieldError[] = [];
  const { matchingPrecedence = 0, distinguisherMethod, priorityLevelConfiguration, rules = [] } = spec;
  const precedence = "spec.matchingPrecedence";
  if (matchingPrecedence <= 0) errors.push(field.invalid(precedence, matchingPrecedence, "must be a positive value"));
  if (matchingPrecedence > MAX_PRECEDENCE)
    errors.push(field.invalid(precedence, matchingPrecedence, `must not be greater than ${MAX_PRECEDENCE}`));
  if (matchingPrecedence === 1 && name !== EXEMPT)
    errors.push(
      field.invalid(precedence, matchingPrecedence, "only the schema named 'exempt' may have matchingPrecedence 1"),
    );
  if (distinguisherMethod && !METHODS.includes(distinguisherMethod.type))
    errors.push(field.notSupported("spec.distinguisherMethod.type", { Type: distinguisherMethod.type }, METHODS));
  const level = "spec.priorityLevelConfiguration.name";
  // The body may lack the reference.
  const referenced = (priorityLevelConfiguration as { name?: string } | undefined)?.name ?? "";
  if (referenced === "") errors.push(field.required(level, "must reference a priority level"));
  else for (const problem of dnsSubdomainProblems(referenced)) errors.push(field.invalid(level, referenced, problem));
  for (const [index, rule] of rules.entries()) errors.push(...checkRule(`spec.rules[${index}]`, rule));
  return errors;
}

function checkRule(at: string, rule: DeepReadonly<PolicyRulesWithSubjects>): FieldError[] {
  const errors: FieldError[] = [];
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rule as Partial<typeof rule>;
  if (subjects.length === 0) errors.push(field.required(`${at}.subjects`, "subjects must contain at least one value"));
  for (const [index, subject] of subjects.entries()) errors.push(...checkSubject(`${at}.subjects[${index}]`, subject));
  if (resourceRules.length === 0 && nonResourceRules.length === 0)
    errors.push(field.required(at, "at least one of resourceRules and nonResourceRules has to be non-empty"));
  for (const [index, one] of resourceRules.entries())
    errors.push(...checkResourceRule(`${at}.resourceRules[${index}]`, one));
  for (const [index, one] of nonResourceRules.entries())
    errors.push(...checkUrlRule(`${at}.nonResourceRules[${index}]`, one));
  return errors;
}

function checkSubject(at: string, subject: DeepReadonly<Subject>): FieldError[] {
  const { kind, user, group, serviceAccount } = subject;
  const missing = (name: string, of: string): FieldError =>
    field.required(`${at}.${name}`, `${name} is required when subject kind is '${of}'`);
  const extra = (given: unknown, name: string, of: string): FieldError[] =>
    given === undefined
      ? []
      : [field.forbidden(`${at}.${name}`, `${name} is forbidden when subject kind is not '${of}'`)];
  const named = (name: string | undefined, path: string): FieldError[] => (name ? [] : [field.required(path)]);
  switch (kind) {
    case "ServiceAccount":
      return [
        ...(serviceAccount ? checkAccount(`${at}.serviceAccount`, serviceAccount) : [missing("serviceAccount", kind)]),
        ...extra(user, "user", "User"),
        ...extra(group, "group", "Group"),
      ];
    case "User":
      return [
        ...(user ? named(user.name, `${at}.user.name`) : [missing("user", kind)]),
        ...extra(serviceAccount, "serviceAccount", "ServiceAccount"),
        ...extra(group, "group", "Group"),
      ];
    case "Group":
      return [
        ...(group ? named(group.name, `${at}.group.name`) : [missing("group", kind)]),
        ...extra(serviceAccount, "serviceAccount", "ServiceAccount"),
        ...extra(user, "user", "User"),
      ];
    default:
      return [field.notSupported(`${at}.kind`, kind, SUBJECT_KINDS)];
  }
}

function checkAccount(at: string, account: { name?: string; namespace?: string }): FieldError[] {
  const { name = "", namespace = "" } = account;
  const errors: FieldError[] = [];
  if (name === "") errors.push(field.required(`${at}.name`));
  else if (name !== ALL)
    for (const problem of dnsSubdomainProblems(name)) errors.push(field.invalid(`${at}.name`, name, problem));
  if (namespace === "") errors.push(field.required(`${at}.namespace`, "must specify namespace for service account"));
  else
    for (const problem of dnsLabelProblems(namespace))
      errors.push(field.invalid(`${at}.namespace`, namespace, problem));
  return errors;
}

/** A list that may be a wildcard alone. */
function checkList(at: string, values: readonly string[], missing: string, others: string): FieldError[] {
  if (values.length === 0) return [field.required(at, missing)];
  return values.length > 1 && values.includes(ALL)
    ? [field.invalid(at, values, `if '*' is present, must not specify other ${others}`)]
    : [];
}

function checkVerbs(at: string, verbs: readonly string[], supported: readonly string[]): FieldError[] {
  const errors = checkList(`${at}.verbs`, verbs, "verbs must contain at least one value", "verbs");
  if (errors.length > 0 || verbs.includes(ALL)) return errors;
  return verbs.every((verb) => supported.includes(verb)) ? [] : [field.notSupported(`${at}.verbs`, verbs, supported)];
}

function checkResourceRule(at: string, rule: DeepReadonly<ResourcePolicyRule>): FieldError[] {
  const {
    verbs = [],
    apiGroups = [],
    resources = [],
    namespaces = [],
    clusterScope = false,
  } = rule as Partial<typeof rule>;
  const errors = [
    ...checkVerbs(at, verbs, RESOURCE_VERBS),
    ...checkList(`${at}.apiGroups`, apiGroups, "resource rules must supply at least one api group", "api groups"),
    ...checkList(`${at}.resources`, resources, "resource rules must supply at least one resource", "resources"),
  ];
  const path = `${at}.namespaces`;
  if (namespaces.length === 0 && !clusterScope)
    errors.push(field.required(path, "resource rules that are not cluster scoped must supply at least one namespace"));
  else if (namespaces.length > 1 && namespaces.includes(ALL))
    errors.push(field.invalid(path, namespaces, "if '*' is present, must not specify other namespaces"));
  else
    for (const [index, namespace] of namespaces.entries())
      if (namespace !== ALL)
        for (const problem of dnsLabelProblems(namespace))
          errors.push(field.invalid(`${path}[${index}]`, namespace, problem));
  return errors;
}

function checkUrlRule(at: string, rule: DeepReadonly<NonResourcePolicyRule>): FieldError[] {
  const { verbs = [], nonResourceURLs = [] } = rule as Partial<typeof rule>;
  const path = `${at}.nonResourceURLs`;
  const errors = [
    ...checkVerbs(at, verbs, URL_VERBS),
    ...checkList(path, nonResourceURLs, "nonResourceURLs must contain at least one value", "non-resource URLs"),
  ];
  for (const [index, url] of nonResourceURLs.entries()) {
    const problem = url === ALL ? undefined : urlProblem(url);
    if (problem !== undefined) errors.push(field.invalid(`${path}[${index}]`, url, problem));
  }
  return errors;
}

function urlProblem(url: string): string | undefined {
  if (!url.startsWith("/")) return "must start with slash";
  if (/\s/.test(url)) return "must not contain white-space";
  if (url.includes("//")) return "must not contain double slash";
  const wildcard = url.indexOf("*");
  return wildcard >= 0 && wildcard !== url.length - 1 ? "wildcard can only do suffix matching" : undefined;
}

/** The mandatory schemas keep their spec. */
function checkMandatory(name: string, spec: DeepReadonly<FlowSchemaSpec>): FieldError[] {
  const mandatory = mandatoryFlowSchemas().find(({ metadata }) => metadata.name === name);
  return mandatory && !isDeepStrictEqual(mandatory.spec, spec)
    ? [field.invalid("spec", spec, `spec of '${name}' must equal the fixed value`)]
    : [];
}

/** A body may lack it. */
const specOf = ({ spec }: { spec?: DeepReadonly<FlowSchemaSpec> }): DeepReadonly<FlowSchemaSpec> =>
  spec ?? { priorityLevelConfiguration: { name: "" } };

export const flowSchemaRules: AnyAdmission[] = [
  builtInAdmission(FlowSchema, "flowcontrol-v1", {
    // A precedence of 0 counts as unset.
    complete: (object) => ({
      ...object,
      spec: { ...specOf(object), matchingPrecedence: specOf(object).matchingPrecedence || DEFAULT_PRECEDENCE },
    }),
    validate({ object }) {
      const name = (object.metadata.name as string | undefined) ?? "";
      return [...checkMandatory(name, specOf(object)), ...checkSpec(specOf(object), name)];
    },
  }),
];
