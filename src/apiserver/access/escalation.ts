/**
 * Prevents privilege escalation: a user who writes a role must hold every rule in it (or the verb `escalate` on it),
 * and a user who writes a binding must hold every rule of the role that it names (or the verb `bind` on that role).
 */
import type { PolicyRule, RoleRef } from "../../api/index.ts";
import { equalJson } from "../../base/index.ts";
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import { badRequest, forbidden, notFound } from "../../machinery/index.ts";
import { isMaster } from "../request/authorize.ts";
import type { Authorizer } from "../request/authorize.ts";
import { plainError } from "../context.ts";
import type { RequestContext } from "../context.ts";
import { metadataOf } from "../write/metadata.ts";
import type { Plugin } from "../plugin.ts";
import { textOf } from "../request/text.ts";
import { RBAC_GROUP, describeMissing } from "./rbac.ts";
import { countParts, describeRules, quoteList, uncovered } from "./rules.ts";

type Rules = readonly DeepReadonly<PolicyRule>[];

const ROLES = new Set(["roles", "clusterroles"]);
const BINDINGS = new Set(["rolebindings", "clusterrolebindings"]);
/**
 * Rules are the product of their lists: a body of three megabytes could name more combinations than the server has time
 * to compare. Real roles have hundreds.
 */
const MAX_PARTS = 50_000;
/** An aggregation rule may collect any rule, so writing one requires full authority. */
const FULL_AUTHORITY: Rules = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

export function createEscalationCheck(authorizer: Authorizer): Plugin {
  return {
    name: "RbacEscalation",
    group: RBAC_GROUP,
    concerns: ({ served: { resource }, user }, operation) =>
      operation !== "DELETE" && resource.name.group === RBAC_GROUP && resource.kind.builtIn && !isMaster(user),
    // This check runs as a mutating plugin so that it runs before validation: a user who may not write the object does
    // not receive its validation errors.
    mutate({ context, object, oldObject }) {
      const { resource } = context.served.resource.name;
      if (oldObject && changesOnlyBookkeeping(object, oldObject)) return object;
      if (ROLES.has(resource)) checkRole(authorizer, context, object, oldObject);
      else if (BINDINGS.has(resource)) checkBinding(authorizer, context, object);
      return object;
    },
  };
}

function checkRole(
  authorizer: Authorizer,
  context: RequestContext,
  role: DeepReadonly<JsonObject>,
  oldRole: DeepReadonly<JsonObject> | undefined,
): void {
  const { cluster, user, namespace, name, served } = context;
  const { group, resource } = served.resource.name;
  const mayEscalate = authorizer.decide({
    user,
    cluster: cluster.name,
    verb: "escalate",
    resource: { group, resource, namespace, name },
  });
  if (mayEscalate.allowed) return;
  confirmHeld(authorizer, context, role, (role.rules ?? []) as unknown as Rules);
  if (!hasAggregation(role) && !(oldRole && hasAggregation(oldRole))) return;
  if (uncovered(authorizer.rulesFor(cluster, user, namespace).rules, FULL_AUTHORITY).length > 0) {
    throw forbidden(
      served.resource.name,
      nameOf(role),
      "must have cluster-admin privileges to use the aggregationRule",
    );
  }
}

function hasAggregation({ aggregationRule }: DeepReadonly<JsonObject>): boolean {
  const selectors = (aggregationRule as { clusterRoleSelectors?: readonly unknown[] } | undefined)
    ?.clusterRoleSelectors;
  return (selectors?.length ?? 0) > 0;
}

function checkBinding(authorizer: Authorizer, context: RequestContext, binding: DeepReadonly<JsonObject>): void {
  const { cluster, user, namespace, served } = context;
  const role = (binding.roleRef ?? {}) as unknown as Partial<RoleRef> & { apiGroup?: string };
  const { kind = "", name = "", apiGroup = "" } = role;
  const resource = kind === "ClusterRole" ? "clusterroles" : kind === "Role" ? "roles" : undefined;
  if (resource === undefined) throw plainError(`unsupported role reference kind: ${JSON.stringify(kind)}`);
  if (
    authorizer.decide({
      user,
      cluster: cluster.name,
      verb: "bind",
      resource: { group: apiGroup, resource, name, namespace },
    }).allowed
  )
    return;
  if (kind === "Role" && namespace === undefined) throw badRequest("Namespace parameter required.");
  const rules = authorizer.rulesOf(cluster, { kind, name }, namespace);
  if (!rules) throw notFound(served.resource.name, name);
  confirmHeld(authorizer, context, binding, rules);
}

function confirmHeld(
  authorizer: Authorizer,
  { cluster, user, namespace, served }: RequestContext,
  object: DeepReadonly<JsonObject>,
  rules: Rules,
): void {
  const { name: resource } = served.resource;
  const parts = countParts(rules);
  if (parts > MAX_PARTS)
    throw forbidden(
      resource,
      nameOf(object),
      `the rules name ${parts} combinations of verb and resource, but at most ${MAX_PARTS} are compared with the rules of user ${JSON.stringify(user.name)}; name fewer, or use "*"`,
    );
  const held = authorizer.rulesFor(cluster, user, namespace);
  const lacking = uncovered(held.rules, rules);
  if (lacking.length === 0) return;
  const unresolved =
    held.missing.length === 0 ? "" : `; resolution errors: [${describeMissing(held.missing, resource.resource)}]`;
  throw forbidden(
    resource,
    nameOf(object),
    `user ${JSON.stringify(user.name)} (groups=${quoteList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${describeRules(lacking).join("\n")}${unresolved}`,
  );
}

function nameOf(object: DeepReadonly<JsonObject>): string {
  return textOf(metadataOf(object as JsonObject).name);
}

/** The garbage collector changes owner references and finalizers before it deletes an object. */
function changesOnlyBookkeeping(object: DeepReadonly<JsonObject>, oldObject: DeepReadonly<JsonObject>): boolean {
  return equalJson(withoutBookkeeping(object), withoutBookkeeping(oldObject));
}

function withoutBookkeeping(object: DeepReadonly<JsonObject>): JsonObject {
  const {
    finalizers: _f,
    ownerReferences: _o,
    managedFields: _m,
    resourceVersion: _r,
    ...metadata
  } = metadataOf(object as JsonObject);
  return { ...(object as JsonObject), metadata };
}
