/**
 * Prevents privilege escalation: a user who writes a role must hold every rule in it (or the verb `escalate` on it),
 * and a user who writes a binding must hold every rule of the role that it names (or the verb `bind` on that role).
 */
import { badRequest, notFound, refusal } from "@flotilla/apimachinery";
import type { AdmissionStep, KubernetesObject, Review } from "@flotilla/apimachinery";
import type { PolicyRule, RoleRef } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { clusterNotFound } from "../clusters/cluster-not-found.ts";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import { isMaster } from "../request/authorize.ts";
import type { Authorizer } from "../request/authorize.ts";
import { plainError } from "../request/context.ts";
import { describeMissing } from "./rbac.ts";
import { countParts, describeRules, quoteList, uncovered } from "./rbac-rules.ts";
import { RBAC_GROUP } from "@flotilla/kubernetes";

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

/** The fields of roles and bindings that grant something. */
interface Granting extends KubernetesObject {
  rules?: PolicyRule[];
  aggregationRule?: { clusterRoleSelectors?: unknown[] };
  roleRef?: Partial<RoleRef>;
}
type ReadGranting = DeepReadonly<Granting>;

interface Dependencies {
  authorizer: Pick<Authorizer, "rulesFor" | "rulesOf">;
  clusters: Pick<ClusterRegistry, "get">;
}

export function createEscalationCheck(deps: Dependencies): AdmissionStep<Granting> {
  return {
    name: "RbacEscalation",
    for: ({ group, builtIn }) => group === RBAC_GROUP && builtIn,
    on: ["CREATE", "UPDATE"],
    matches: ({ user }) => !isMaster(user),
    // Runs before validation: a user who may not write the object does not receive its validation errors.
    complete(review) {
      const { object, oldObject, kind } = review;
      if (oldObject && changesOnlyBookkeeping(object, oldObject)) return object;
      if (ROLES.has(kind.plural)) checkRole(deps, review);
      else if (BINDINGS.has(kind.plural)) checkBinding(deps, review);
      return object;
    },
  };
}

function clusterOf({ clusters }: Dependencies, { cluster }: Review<Granting>): LogicalCluster {
  const found = clusters.get(cluster);
  if (!found) throw clusterNotFound(cluster);
  return found;
}

function checkRole(deps: Dependencies, review: Review<Granting>): void {
  const { authorizer } = deps;
  const { user, namespace, name, kind, object: role, oldObject: oldRole } = review;
  if (review.allows({ verb: "escalate", group: kind.group, resource: kind.plural, namespace, name })) return;
  confirmHeld(deps, review, role.rules ?? []);
  if (!hasAggregation(role) && !(oldRole && hasAggregation(oldRole))) return;
  const held = authorizer.rulesFor(clusterOf(deps, review), user, namespace).rules;
  if (uncovered(held, FULL_AUTHORITY).length > 0)
    throw refusal(review, "must have cluster-admin privileges to use the aggregationRule");
}

function hasAggregation({ aggregationRule }: ReadGranting): boolean {
  return (aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0;
}

function checkBinding(deps: Dependencies, review: Review<Granting>): void {
  const { authorizer } = deps;
  const { namespace, object: binding } = review;
  const { kind = "", name = "", apiGroup = "" } = binding.roleRef ?? {};
  const resource = kind === "ClusterRole" ? "clusterroles" : kind === "Role" ? "roles" : undefined;
  if (resource === undefined) throw plainError(`unsupported role reference kind: ${JSON.stringify(kind)}`);
  if (review.allows({ verb: "bind", group: apiGroup, resource, name, namespace })) return;
  if (kind === "Role" && namespace === undefined) throw badRequest("Namespace parameter required.");
  const rules = authorizer.rulesOf(clusterOf(deps, review), { kind, name }, namespace);
  if (!rules) throw notFound({ group: review.kind.group, resource: review.kind.plural }, name);
  confirmHeld(deps, review, rules);
}

function confirmHeld(deps: Dependencies, review: Review<Granting>, rules: Rules): void {
  const { user, namespace, kind } = review;
  const parts = countParts(rules);
  if (parts > MAX_PARTS)
    throw refusal(
      review,
      `the rules name ${parts} combinations of verb and resource, but at most ${MAX_PARTS} are compared with ` +
        `the rules of user ${JSON.stringify(user.name)}; name fewer, or use "*"`,
    );
  const held = deps.authorizer.rulesFor(clusterOf(deps, review), user, namespace);
  const lacking = uncovered(held.rules, rules);
  if (lacking.length === 0) return;
  const unresolved =
    held.missing.length === 0 ? "" : `; resolution errors: [${describeMissing(held.missing, kind.plural)}]`;
  throw refusal(
    review,
    `user ${JSON.stringify(user.name)} (groups=${quoteList(user.groups)}) is attempting to grant RBAC ` +
      `permissions not currently held:\n${describeRules(lacking).join("\n")}${unresolved}`,
  );
}

/** The garbage collector changes owner references and finalizers before it deletes an object. */
function changesOnlyBookkeeping(object: ReadGranting, oldObject: ReadGranting): boolean {
  return equalJson(withoutBookkeeping(object), withoutBookkeeping(oldObject));
}

function withoutBookkeeping(object: ReadGranting): unknown {
  const { finalizers: _f, ownerReferences: _o, managedFields: _m, resourceVersion: _r, ...metadata } = object.metadata;
  return { ...object, metadata };
}
