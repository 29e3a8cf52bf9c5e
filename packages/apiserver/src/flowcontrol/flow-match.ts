/** Classifies requests by the FlowSchemas of a cluster, in the order of their precedence. Pure. */
import { mandatoryFlowSchemas, accountUser } from "@flotilla/kubernetes";
import type { FlowSchema } from "@flotilla/kubernetes";
import type {
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from "@flotilla/apimachinery/facts/flowcontrol-v1.ts";
import { invariant } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { UserInfo } from "../request/user-info.ts";

/** What FlowSchemas see of a request. */
export interface FlowAttributes {
  user: UserInfo;
  verb: string;
  /** Unset for a request that is not for a resource. */
  resource?: { group: string; resource: string; subresource?: string; namespace?: string; name?: string };
  path: string;
}

export interface CompiledSchema {
  readonly name: string;
  readonly uid: string;
  readonly level: string;
  readonly by: "ByUser" | "ByNamespace" | undefined;
  readonly rules: readonly DeepReadonly<PolicyRulesWithSubjects>[];
  /** Counted here, because a schema is looked up for each request anyway. */
  dispatched: number;
}

/** The schemas that a user can match, with only those of their rules. Most users match two or three. */
interface Candidates {
  readonly schema: CompiledSchema;
  readonly rules: readonly DeepReadonly<PolicyRulesWithSubjects>[];
}

export interface FlowMatcher {
  readonly schemas: readonly CompiledSchema[];
  match(attributes: FlowAttributes): CompiledSchema;
}

/** `hasLevel` excludes schemas whose priority level does not exist. The mandatory schemas are always part of it. */
export function createFlowMatcher(
  objects: readonly DeepReadonly<FlowSchema>[],
  hasLevel: (name: string) => boolean,
): FlowMatcher {
  const usable = objects.filter(({ spec }) => hasLevel(spec.priorityLevelConfiguration.name));
  const missing = mandatoryFlowSchemas().filter(
    ({ metadata: { name } }) => !usable.some((object) => object.metadata.name === name),
  );
  const schemas = [...usable, ...missing]
    .sort(
      (a, b) =>
        (a.spec.matchingPrecedence ?? 0) - (b.spec.matchingPrecedence ?? 0) ||
        (a.metadata.name < b.metadata.name ? -1 : 1),
    )
    .map(compile);
  const last = schemas.find(({ name }) => name === "catch-all");
  invariant(last, "the mandatory FlowSchemas are always there");
  // By identity: the users of a connection or a token are the same object for many requests.
  const byUser = new WeakMap<UserInfo, readonly Candidates[]>();
  const candidatesOf = (user: UserInfo): readonly Candidates[] => {
    let known = byUser.get(user);
    if (!known) byUser.set(user, (known = candidatesFor(user, schemas)));
    return known;
  };
  return {
    schemas,
    match(attributes) {
      for (const { schema, rules } of candidatesOf(attributes.user)) {
        for (const rule of rules) if (matchesRule(rule, attributes)) return schema;
      }
      return last;
    },
  };
}

function compile({ metadata, spec }: DeepReadonly<FlowSchema>): CompiledSchema {
  const { priorityLevelConfiguration, distinguisherMethod, rules = [] } = spec;
  return {
    name: metadata.name,
    uid: metadata.uid ?? "",
    level: priorityLevelConfiguration.name,
    by: distinguisherMethod?.type as CompiledSchema["by"],
    rules,
    dispatched: 0,
  };
}

function candidatesFor(user: UserInfo, schemas: readonly CompiledSchema[]): Candidates[] {
  return schemas.flatMap((schema) => {
    const rules = schema.rules.filter(({ subjects }) => subjects.some((subject) => matchesSubject(user, subject)));
    return rules.length > 0 ? [{ schema, rules }] : [];
  });
}

const ALL = "*";

function matchesSubject({ name, groups }: UserInfo, subject: DeepReadonly<Subject>): boolean {
  switch (subject.kind) {
    case "User":
      return subject.user !== undefined && (subject.user.name === ALL || subject.user.name === name);
    case "Group":
      return subject.group !== undefined && (subject.group.name === ALL || groups.includes(subject.group.name));
    case "ServiceAccount": {
      if (!subject.serviceAccount) return false;
      const { namespace, name: account } = subject.serviceAccount;
      return account === ALL ? name.startsWith(accountUser(namespace, "")) : name === accountUser(namespace, account);
    }
    default:
      return false;
  }
}

function matchesRule(rule: DeepReadonly<PolicyRulesWithSubjects>, { verb, resource, path }: FlowAttributes): boolean {
  if (!resource) return rule.nonResourceRules?.some((one) => matchesUrl(one, verb, path)) ?? false;
  return rule.resourceRules?.some((one) => matchesResource(one, verb, resource)) ?? false;
}

const includes = (list: readonly string[], value: string): boolean =>
  (list.length === 1 && list[0] === ALL) || list.includes(value);

function matchesResource(
  rule: DeepReadonly<ResourcePolicyRule>,
  verb: string,
  { group, resource, subresource, namespace }: NonNullable<FlowAttributes["resource"]>,
): boolean {
  if (!includes(rule.verbs, verb) || !includes(rule.apiGroups, group)) return false;
  if (!includes(rule.resources, subresource === undefined ? resource : `${resource}/${subresource}`)) return false;
  return namespace === undefined ? rule.clusterScope === true : includes(rule.namespaces ?? [], namespace);
}

function matchesUrl(
  { verbs, nonResourceURLs }: DeepReadonly<NonResourcePolicyRule>,
  verb: string,
  path: string,
): boolean {
  if (!includes(verbs, verb)) return false;
  return nonResourceURLs.some((url) => {
    if (url === ALL || url === path) return true;
    const prefix = url.endsWith("*") ? url.slice(0, -1) : url;
    return path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
  });
}

/** What distinguishes the flows of a schema: its user, its namespace, or nothing. */
export function flowOf({ by }: CompiledSchema, { user, resource }: FlowAttributes): string {
  if (by === "ByUser") return user.name;
  return by === "ByNamespace" ? (resource?.namespace ?? "") : "";
}
