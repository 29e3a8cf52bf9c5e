/**
 * Nobody gives away what they do not have: whoever writes a role must hold every rule in it (or the verb `escalate` on
 * it), and whoever writes a binding every rule of the role that it names (or the verb `bind` on that role).
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
 * Lists multiply: a body of three megabytes could name more combinations than there is time for. Real roles have
 * hundreds.
 */
const MAX_PARTS = 50_000;
/** An aggregation rule may gather anything, so it takes everything to write one. */
const FULL_AUTHORITY: Rules = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

export function createEscalationCheck(authorizer: Authorizer): Plugin {
  return {
    name: "RbacEscalation",
    concerns: ({ served: { resource }, user }, operation) =>
      operation !== "DELETE" && resource.name.group === RBAC_GROUP && resource.kind.builtIn && !isMaster(user),
    // A check in the place of a change, because it comes before what is wrong with the object: who may not write it is
    // not told.
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
      `the rules name ${parts} combinations of verb and resource, more than the ${MAX_PARTS} that are compared with what user ${JSON.stringify(user.name)} holds; name fewer, or use "*"`,
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

/** Owners and finalizers are what the garbage collector changes on its way to deleting an object. */
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
