/**
 * The initial RBAC objects of every cluster, built from the facts beside this file. They belong to the profile of a
 * cluster, so a thousand clusters share one copy; a cluster that changes one stores its own.
 */
import { required } from "@flotilla/base";
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  Subject,
} from "@flotilla/apimachinery/facts/rbac-v1.ts";
import type { ObjectMeta } from "@flotilla/apimachinery";
import { aggregatedRules } from "./aggregated-rules.ts";
import { clusterRoleBindings, roleBindings } from "./bootstrap-bindings.ts";
import { clusterRoles } from "./bootstrap-cluster-roles.ts";
import { controllerRoles } from "./bootstrap-controller-roles.ts";
import { namespaceRoles } from "./bootstrap-namespace-roles.ts";
import { RBAC_GROUP } from "./identities.ts";

const API_VERSION = `${RBAC_GROUP}/v1`;
const AGGREGATE_TO = `${RBAC_GROUP}/aggregate-to-`;

/** The aggregated roles and their sources; each role comes after its sources. */
const AGGREGATES: readonly { name: string; into?: string }[] = [
  { name: "view", into: "edit" },
  { name: "edit", into: "admin" },
  { name: "admin" },
];

type RbacObject = ClusterRole | ClusterRoleBinding | Role | RoleBinding;

let built: readonly RbacObject[] | undefined;

/** Objects for a profile, in no particular order. Every caller gets the same ones, so profiles share what they derive. */
export function bootstrapRbac(): readonly RbacObject[] {
  return (built ??= build());
}

function build(): RbacObject[] {
  const controllers = Object.entries(controllerRoles);
  const roles = [
    ...Object.entries(clusterRoles).map(([name, lines]) =>
      clusterRole(
        name,
        lines,
        name.startsWith("system:aggregate-to-") ? name.slice("system:aggregate-to-".length) : undefined,
      ),
    ),
    ...controllers.map(([account, lines]) => clusterRole(`system:controller:${account}`, lines)),
  ];
  for (const { name, into } of AGGREGATES) {
    const role: ClusterRole = {
      ...clusterRole(name, [], into),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [`${AGGREGATE_TO}${name}`]: "true" } }] },
    };
    roles.push({
      ...role,
      rules: required(aggregatedRules(role, roles), `the rules that ${name} aggregates`) as PolicyRule[],
    });
  }
  return [
    ...roles,
    ...Object.entries(clusterRoleBindings).map(([name, subjects]) => clusterRoleBinding(name, subjects)),
    ...controllers.map(([account]) =>
      clusterRoleBinding(`system:controller:${account}`, [`ServiceAccount:kube-system/${account}`]),
    ),
    ...Object.entries(namespaceRoles).map(([path, lines]): Role => {
      const [namespace = "", name = ""] = path.split("/");
      return { apiVersion: API_VERSION, kind: "Role", metadata: metadata(name, namespace), rules: lines.map(ruleOf) };
    }),
    ...roleBindings.map(({ namespace, name, role, subjects }): RoleBinding => ({
      apiVersion: API_VERSION,
      kind: "RoleBinding",
      metadata: metadata(name, namespace),
      subjects: subjects.map(subjectOf),
      roleRef: { apiGroup: RBAC_GROUP, kind: "Role", name: role },
    })),
  ];
}

function clusterRole(name: string, lines: readonly string[], aggregateTo?: string): ClusterRole {
  const meta = metadata(name);
  return {
    apiVersion: API_VERSION,
    kind: "ClusterRole",
    metadata:
      aggregateTo === undefined
        ? meta
        : { ...meta, labels: { ...meta.labels, [`${AGGREGATE_TO}${aggregateTo}`]: "true" } },
    rules: lines.map(ruleOf),
  };
}

function clusterRoleBinding(name: string, subjects: readonly string[]): ClusterRoleBinding {
  return {
    apiVersion: API_VERSION,
    kind: "ClusterRoleBinding",
    metadata: metadata(name),
    subjects: subjects.length > 0 ? subjects.map(subjectOf) : undefined,
    roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name },
  };
}

function metadata(name: string, namespace?: string): ObjectMeta {
  return {
    name,
    namespace,
    labels: { "kubernetes.io/bootstrapping": "rbac-defaults" },
    annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
  };
}

function ruleOf(line: string): PolicyRule {
  const [verbs = [], second = [], resources, resourceNames] = line.split(" ").map((word) => word.split(","));
  if (!resources) return { verbs, nonResourceURLs: second };
  return {
    verbs,
    apiGroups: second.map((group) => (group === "core" ? "" : group)),
    resources,
    resourceNames,
  };
}

function subjectOf(text: string): Subject {
  const colon = text.indexOf(":");
  const kind = text.slice(0, colon);
  const name = text.slice(colon + 1);
  if (kind !== "ServiceAccount") return { kind, apiGroup: RBAC_GROUP, name };
  const [namespace = "", account = ""] = name.split("/");
  return { kind, name: account, namespace };
}
