/**
 * The audit policy (`audit.k8s.io/v1` Policy): which requests are recorded, in which stages, and how much of them. The
 * first rule that matches decides; a request that no rule matches is not recorded.
 *
 * Bodies of some kinds are secrets. A rule records them only if it names the resource: a rule for all resources, or for
 * a whole group, records the metadata of such requests (docs/adr/0042).
 */
import { ConfigurationError, readConfiguration, s } from "@flotilla/apimachinery";
import { AUDIT_LEVELS } from "../request/audit-record.ts";
import type { AuditLevel } from "../request/audit-record.ts";

const AUDIT_STAGES = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"] as const;
export type AuditStage = (typeof AUDIT_STAGES)[number];

/** What rules match. The user is the sender of the request, not the one that it impersonates. */
export interface AuditAttributes {
  readonly user: { readonly name: string; readonly groups: readonly string[] } | undefined;
  readonly verb: string;
  /** Unset for a request that is not about a resource. */
  readonly resource?: {
    readonly group: string;
    readonly resource: string;
    readonly subresource?: string | undefined;
    readonly namespace?: string | undefined;
    readonly name?: string | undefined;
  };
  /** The path in its cluster, for other requests. */
  readonly path: string;
}

export interface AuditDecision {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

export interface AuditPolicy {
  decide(attributes: AuditAttributes): AuditDecision;
}

/** A resource whose bodies are secrets: `secrets`, or `serviceaccounts/token`. */
export interface SensitiveResource {
  readonly group: string;
  readonly resource: string;
}

const SENSITIVE: readonly SensitiveResource[] = [
  { group: "", resource: "secrets" },
  { group: "", resource: "configmaps" },
  { group: "", resource: "serviceaccounts/token" },
  { group: "authentication.k8s.io", resource: "tokenreviews" },
];

const names = (description: string) => s.optional(s.array(description, s.string("A name.")));
const stages = s.optional(s.array("Stages for which no event is made.", s.string("A stage.", { enum: AUDIT_STAGES })));

const rule = s.object({
  level: s.string("How much of the request is recorded.", { enum: AUDIT_LEVELS }),
  users: names("Users that the rule applies to; unset is all."),
  userGroups: names("Groups that the rule applies to; unset is all."),
  verbs: names("Verbs that the rule applies to; unset is all."),
  resources: s.optional(
    s.array(
      "Resources that the rule applies to; unset is all.",
      s.object({
        group: s.string("The API group; empty is the core group.", { default: "" }),
        resources: names("Resources and subresources: pods, pods/log, pods/*, */scale, *."),
        resourceNames: names("Names of objects."),
      }),
    ),
  ),
  namespaces: names('Namespaces that the rule applies to; "" is objects without a namespace.'),
  nonResourceURLs: names("Paths that the rule applies to; * at the end matches any rest."),
  omitStages: stages,
  omitManagedFields: s.optional(s.boolean("Whether managedFields are left out of bodies.")),
});
type Rule = s.Infer<typeof rule>;
type ResourceRule = NonNullable<Rule["resources"]>[number];

const POLICY = {
  kind: "Policy",
  apiVersions: ["audit.k8s.io/v1"],
  fields: {
    rules: s.array("The rules, in order.", rule),
    omitStages: stages,
    omitManagedFields: s.boolean("Whether managedFields are left out of bodies.", { default: false }),
  },
} as const;

const NOTHING: AuditDecision = { level: "None", omitStages: new Set(), omitManagedFields: false };

/** Throws `ConfigurationError`. `sensitive` adds resources whose bodies contain secrets. */
export function readAuditPolicy(text: string, file: string, sensitive: readonly SensitiveResource[] = []): AuditPolicy {
  const { rules, omitStages = [], omitManagedFields } = readConfiguration(text, file, POLICY);
  if (rules.length === 0)
    throw new ConfigurationError(`${file}: rules: Required value: a policy without a rule records nothing`);
  for (const [index, each] of rules.entries()) {
    const problem = problemOf(each);
    if (problem) throw new ConfigurationError(`${file}: rules[${index}].${problem}`);
  }
  const secrets = new Set([...SENSITIVE, ...sensitive].map(({ group, resource }) => `${group}/${resource}`));
  const compiled = rules.map((each) => {
    const decision: AuditDecision = {
      level: each.level,
      omitStages: new Set([...omitStages, ...(each.omitStages ?? [])]),
      omitManagedFields: each.omitManagedFields ?? omitManagedFields,
    };
    const isBody = each.level === "Request" || each.level === "RequestResponse";
    return { rule: each, decision, lowered: isBody ? { ...decision, level: "Metadata" as const } : decision };
  });
  return {
    decide(attributes) {
      for (const { rule: each, decision, lowered } of compiled) {
        const match = matchRule(each, attributes);
        if (match === undefined) continue;
        return match === "by name" || !isSensitive(secrets, attributes.resource) ? decision : lowered;
      }
      return NOTHING;
    },
  };
}

function problemOf({ resources = [], namespaces = [], nonResourceURLs = [] }: Rule): string | undefined {
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0))
    return "nonResourceURLs: Invalid value: rules cannot apply to both regular resources and non-resource URLs";
  for (const url of nonResourceURLs) {
    if (url !== "*" && !url.startsWith("/"))
      return `nonResourceURLs: Invalid value: ${JSON.stringify(url)}: non-resource URL rules must begin with a '/' character`;
    if (url.slice(0, -1).includes("*"))
      return `nonResourceURLs: Invalid value: ${JSON.stringify(url)}: non-resource URL wildcards '*' must be the final character of the rule`;
  }
  for (const { group, resources: of = [], resourceNames = [] } of resources) {
    if (group.includes("/"))
      return `resources: Invalid value: ${JSON.stringify(group)}: an API group has no version; use the part before the '/'`;
    if (resourceNames.length > 0 && of.length === 0)
      return "resources: Invalid value: using resourceNames requires at least one resource";
  }
  return undefined;
}

function isSensitive(secrets: ReadonlySet<string>, resource: AuditAttributes["resource"]): boolean {
  if (!resource) return false;
  const { group, resource: plural, subresource } = resource;
  const whole = `${group}/${plural}`;
  return secrets.has(whole) || (subresource !== undefined && secrets.has(`${whole}/${subresource}`));
}

/** Whether a rule matches, and whether it names the resource. */
function matchRule(
  { users, userGroups, verbs, resources, namespaces, nonResourceURLs }: Rule,
  { user, verb, resource, path }: AuditAttributes,
): "by name" | "by wildcard" | undefined {
  if (users?.length && !(user && users.includes(user.name))) return undefined;
  if (userGroups?.length && !user?.groups.some((group) => userGroups.includes(group))) return undefined;
  if (verbs?.length && !verbs.includes(verb)) return undefined;
  if (resources?.length || namespaces?.length) {
    if (!resource || (namespaces?.length && !namespaces.includes(resource.namespace ?? ""))) return undefined;
    if (!resources?.length) return "by wildcard";
    let found: "by wildcard" | undefined;
    for (const each of resources) {
      const match = matchResource(each, resource);
      if (match === "by name") return match;
      found ??= match;
    }
    return found;
  }
  if (nonResourceURLs?.length)
    return !resource && nonResourceURLs.some((spec) => matchPath(spec, path)) ? "by wildcard" : undefined;
  return "by wildcard";
}

function matchResource(
  { group, resources = [], resourceNames = [] }: ResourceRule,
  asked: NonNullable<AuditAttributes["resource"]>,
): "by name" | "by wildcard" | undefined {
  if (group !== asked.group) return undefined;
  if (resources.length === 0) return "by wildcard";
  if (resourceNames.length > 0 && !resourceNames.includes(asked.name ?? "")) return undefined;
  const whole = asked.subresource ? `${asked.resource}/${asked.subresource}` : asked.resource;
  if (resources.includes(whole) || resources.includes(`${asked.resource}/*`)) return "by name";
  return resources.includes("*") || (asked.subresource && resources.includes(`*/${asked.subresource}`))
    ? "by wildcard"
    : undefined;
}

const matchPath = (spec: string, path: string): boolean =>
  spec === "*" || spec === path || (spec.endsWith("*") && path.startsWith(spec.slice(0, -1)));
